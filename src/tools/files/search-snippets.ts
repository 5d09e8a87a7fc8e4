import { closeSync } from 'node:fs'
import { openFile } from '../../tree/lookup.js'
import type { FileJob, SearchFound, Snippet } from './file-jobs.js'
import { type Chunk, parseTerms, Ranking } from './rank-chunks.js'
import { readText, type Search, walkCandidates } from './search-tree.js'

const FILE_BYTES_MAX = 1024 * 1024
const ALL_BYTES_MAX = 512 * 1024 * 1024
const SNIPPET_CHARS_MAX = 2_000
const CHUNKS_PER_FILE_MAX = 3
// Lines longer than this on average are generated or minified, and useless as an answer.
const LINE_CHARS_MAX = 400

type SearchJob = Extract<FileJob, { readonly type: 'search' }>

/** Chunks of lines that share words with the query, best first. */
export async function searchSnippets(search: Search, job: SearchJob): Promise<SearchFound> {
  const terms = parseTerms(job.query)
  const ranking = new Ranking(terms)
  let bytesLeft = ALL_BYTES_MAX
  for await (const { path, fd } of walkCandidates(search, { isWanted: () => true, needsContent: true })) {
    const read = fd === null ? null : readText(fd, FILE_BYTES_MAX)
    if (read === null) continue
    bytesLeft -= read.bytes.length
    if (bytesLeft < 0) {
      search.isCut = true
      break
    }
    if (read.isCut) search.isCut = true
    const text = read.bytes.toString('utf8')
    if (!isPacked(text)) ranking.add(path, text)
  }
  const best = limitPerFile(ranking.best())
  const results = best.slice(0, job.limit).flatMap((chunk) => readSnippet(search, chunk))
  return { results, truncated: search.isCut || ranking.isCut || best.length > job.limit }
}

function isPacked(text: string): boolean {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return text.length / lines > LINE_CHARS_MAX
}

function limitPerFile<T extends Chunk>(chunks: readonly T[]): readonly T[] {
  const perFile = new Map<string, number>()
  return chunks.filter(({ path }) => {
    const count = (perFile.get(path) ?? 0) + 1
    perFile.set(path, count)
    return count <= CHUNKS_PER_FILE_MAX
  })
}

// Read again: keeping the text of every candidate would keep most of a tree in memory.
function readSnippet(search: Search, chunk: Chunk & { readonly score: number }): readonly Snippet[] {
  const file = openFile(search.place.root, chunk.path)
  if (!file.ok) return []
  try {
    const read = readText(file.fd, FILE_BYTES_MAX)
    if (read === null) return []
    const lines = read.bytes
      .toString('utf8')
      .split('\n')
      .slice(chunk.line - 1, chunk.endLine)
    const { path, line, endLine } = chunk
    const score = Math.round(chunk.score * 1000) / 1000
    return [{ path, line, end_line: endLine, score, snippet: lines.join('\n').slice(0, SNIPPET_CHARS_MAX) }]
  } finally {
    closeSync(file.fd)
  }
}
