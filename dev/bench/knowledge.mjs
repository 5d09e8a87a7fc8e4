// Searching 10,000 passages by words and meaning, and the server's other answers while 1,000 files are being indexed.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { line, median, round } from './measure.mjs'
import { phaselock, place, ROOT } from './servers.mjs'

const CONTRACT = `name: reading
version: "1"
knowledge: {sources: ["docs/**/*.md"]}
phases: [{id: A, allowed_tools: [read_files]}, {id: B, allowed_tools: []}]
transitions: [{from: A, to: B}]
`
const CORPUS = join(ROOT, 'test/knowledge/corpus')
const P50_MS_MAX = 30
const PASSAGES_PER_FILE = 10
const DIMENSIONS = 384
export async function benchKnowledge({ passages, files, rounds }) {
  const { isModelInstalled } = await import(join(ROOT, 'dist/knowledge/minilm.js'))
  if (!isModelInstalled(null)) return { skipped: 'the embedding model is not installed (phaselock knowledge install)' }
  return { lines: [...(await searching(passages, rounds)), ...(await whileIndexing(files))] }
}

// Vectors of the passages are made up, since what they are does not change how long they take; those of queries are real.
async function searching(passages, rounds) {
  const { SearchIndex } = await import(join(ROOT, 'dist/knowledge/passages.js'))
  const { search } = await import(join(ROOT, 'dist/knowledge/search.js'))
  const { loadMiniLm } = await import(join(ROOT, 'dist/knowledge/minilm.js'))
  const { splitMarkdown } = await import(join(ROOT, 'dist/knowledge/chunk.js'))
  const { embedder } = await loadMiniLm(null)
  const at = place()
  const index = new SearchIndex(join(at.dir, 'search.db'))
  index.useModel(embedder.id)
  const metadata = { phases: [], isSealed: false, tags: [], workflow: null }
  for (let file = 0; file * PASSAGES_PER_FILE < passages; file += 1) {
    const { chunks } = splitMarkdown(textOf(file), 1, (text) => text.length >> 2)
    index.put({ path: `docs/${file}.md`, hash: String(file), metadata, title: '', chunks })
    for (const { textHash } of chunks) index.putVector(textHash, madeUp(textHash))
  }
  const request = { phase: null, tags: [], workflow: null, limit: 5, visible: ['A'] }
  const whole = []
  const words = []
  for (let n = 0; n < rounds * QUERIES.length; n += 1) {
    const query = QUERIES[n % QUERIES.length]
    const started = performance.now()
    const vector = await embedder.embed(query)
    search(index, { ...request, query }, { vector, files: null })
    whole.push(performance.now() - started)
    const again = performance.now()
    search(index, { ...request, query }, { vector: null, files: null })
    words.push(performance.now() - again)
  }
  const count = index.entries.size
  await embedder.close()
  index.close()
  at.remove()
  const p50 = median(whole)
  return [
    line(`search over ${count} passages, embedding included, p50`, {
      ...{ value: `${round(p50)} ms`, baseline: `${P50_MS_MAX} ms`, ratio: round(p50 / P50_MS_MAX), goal: '≤ 1' },
    }),
    line('the same words once more, without meaning, p50', {
      ...{ value: `${round(median(words))} ms`, baseline: `${round(p50)} ms`, ratio: round(median(words) / p50) },
    }),
  ]
}

async function whileIndexing(files) {
  const at = place()
  const contract = join(at.dir, 'reading.yaml')
  writeFileSync(contract, CONTRACT)
  mkdirSync(join(at.dir, 'tree/docs'))
  const server = await phaselock(at.dir, contract)
  try {
    const quiet = await answerTimes(server, 200)
    for (let file = 0; file < files; file += 1) writeFileSync(join(at.dir, 'tree/docs', `${file}.md`), textOf(file, 3))
    const started = performance.now()
    const busy = []
    let found = 0
    while (found < files && performance.now() - started < 300_000) {
      busy.push(...(await answerTimes(server, 20)))
      const last = { query: `section ${files - 1}`, n_results: 50 }
      const { results } = await server.call('POST', '/knowledge/search', server.operator, last)
      found = results.some(({ file }) => file === `docs/${files - 1}.md`) ? files : 0
    }
    const seconds = (performance.now() - started) / 1000
    const p99 = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)]
    return [
      line(`p99 of another request while ${files} files are indexed (${round(seconds)} s until all are found)`, {
        ...{
          value: `${round(p99(busy))} ms`,
          baseline: `${round(p99(quiet))} ms`,
          ratio: round(p99(busy) / p99(quiet)),
        },
      }),
    ]
  } finally {
    await server.stop()
    at.remove()
  }
}

async function answerTimes(server, count) {
  const times = []
  for (let n = 0; n < count; n += 1) {
    const started = performance.now()
    await server.call('GET', '/tasks', server.operator)
    times.push(performance.now() - started)
  }
  return times
}

// Sentences of the test documents, put together in another way in every passage.
const SENTENCES = readFileSync(join(CORPUS, 'guides.txt'), 'utf8')
  .split('\n')
  .filter((text) => text !== '' && !/^(===|#)/.test(text))
  .flatMap((text) => text.split(/(?<=\.) /))
const QUERIES = readFileSync(join(CORPUS, 'questions.txt'), 'utf8')
  .split('\n')
  .filter((text) => text.includes(' | ') && !text.startsWith('#'))
  .map((text) => text.split(' | ')[3])

function textOf(file, sections = PASSAGES_PER_FILE) {
  return Array.from({ length: sections }, (_, at) => {
    const sentence = (n) => SENTENCES[Math.floor(chance(file * 1000 + at * 10 + n) * SENTENCES.length)]
    return `## Section ${file}-${at}\n\n${Array.from({ length: 6 }, (_, n) => sentence(n)).join(' ')}\n`
  }).join('\n')
}

function chance(seed) {
  return createHash('sha256').update(String(seed)).digest().readUInt32BE() / 2 ** 32
}

function madeUp(seed) {
  let state = Number.parseInt(seed.slice(0, 8), 16)
  const vector = Float32Array.from({ length: DIMENSIONS }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 - 0.5
  })
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
