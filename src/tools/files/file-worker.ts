import { closeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { openEntry, openParent, splitPath } from '../../tree/lookup.js'
import { getErrno, makeRefused, TREE_PROBLEMS, type TreeRefusal } from '../../tree/problems.js'
import { applyEdits } from './apply-edits.js'
import type { FileJob, FromWorker, SearchPlace, ToWorker } from './file-jobs.js'
import { quotePath } from './file-place.js'
import { compileRegex, grepTree, searchTreeByGlob } from './grep-tree.js'
import { searchSnippets } from './search-snippets.js'
import type { Search } from './search-tree.js'

run()

function run(): void {
  const port = parentPort
  if (port === null) throw new Error('file-worker.ts runs as a worker thread only')
  let answered: ((mask: Uint8Array) => void) | null = null
  const send = (message: FromWorker) => port.postMessage(message)
  const ask = (paths: readonly string[]) =>
    new Promise<Uint8Array>((resolve) => {
      answered = resolve
      send({ type: 'ask', paths })
    })
  port.on('message', (message: ToWorker) => {
    if (message.type === 'visible') return answered?.(message.mask)
    const endsAt = performance.now() + message.endsInMs
    perform(message.job, { ask, endsAt }).then(send, (error: unknown) =>
      send({ type: 'broken', message: String(error), errno: getErrno(error) }),
    )
  })
}

async function perform(job: FileJob, about: Pick<Search, 'ask' | 'endsAt'>): Promise<FromWorker> {
  if (job.type === 'edit') return { type: 'done', found: applyEdits(job) }
  const problem = startProblem(job)
  if (problem !== null)
    return {
      type: 'refused',
      code: 'tool_failed',
      detail: `${quotePath(problem.path)}: ${TREE_PROBLEMS[problem.problem]}`,
    }
  const search: Search = { place: { root: job.root, start: job.start }, ...about, isCut: false }
  switch (job.type) {
    case 'glob':
      return { type: 'done', found: await searchTreeByGlob(search, job) }
    case 'grep': {
      const compiled = compileRegex(job.pattern, job.ignoresCase)
      if (!compiled.ok)
        return { type: 'refused', code: 'invalid_regex', detail: `the pattern is not accepted: ${compiled.detail}` }
      return { type: 'done', found: await grepTree(search, job, compiled.regex) }
    }
    case 'search':
      return { type: 'done', found: await searchSnippets(search, job) }
  }
}

function startProblem({ root, start }: SearchPlace): TreeRefusal | null {
  const parts = splitPath(start)
  if (parts === null) return makeRefused('outside', start)
  if (parts.length === 0) return null
  if (parts.includes('.git')) return makeRefused('missing', start)
  const parent = openParent(root, start)
  if (!parent.ok) return parent
  const entry = openEntry(parent.fd, parent.name)
  closeSync(parent.fd)
  if (!entry.ok) return makeRefused(entry.problem, start)
  closeSync(entry.fd)
  return entry.kind === 'file' || entry.kind === 'directory' ? null : makeRefused(entry.kind, start)
}
