import { randomBytes } from 'node:crypto'
import { closeSync } from 'node:fs'
import { sha256Hex } from '../../base/sha256.js'
import { matchesGlob } from '../../contract/glob.js'
import type { Contract } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import { stash as decideStash } from '../../core/task/stash.js'
import type { TaskState } from '../../core/task/state.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import { openFile } from '../../tree/lookup.js'
import { readBytes } from '../../tree/read-bytes.js'
import { type Difference, listDifferences, type TreeIndex } from '../../tree/tree-contents.js'
import { type App, contextOf } from '../app.js'
import { keepUnder, type Once } from '../kept-answer.js'
import { noTask, type Result, refuse, toProblem } from '../result.js'
import { isAgentFree } from '../tasks/operate.js'
import { findContentByHash } from '../trees/reconcile.js'
import { findOtherTask } from '../trees/rewind-tree.js'
import { WORK_BEGAN } from '../trees/trees.js'
import { buildStashAnswer } from './list-stashes.js'
import { bringTo, isKeepable } from './stash-steps.js'
import { STASHES_MAX, type Stash, type StashedPath, StashShelf } from './stash-store.js'

const PATHS_MAX = 2000
const FILE_BYTES_MAX = 16 * 1024 * 1024
const ALL_BYTES_MAX = 256 * 1024 * 1024
const PATHS_TOLD_MAX = 200
const NAMED_MAX = 20
const TOOLS_WAIT_MS = 10_000
const QUIET_ATTEMPTS_MAX = 5
const MODE_MASK = 0o777

interface SaveRequest {
  readonly taskId: string
  readonly name: string | null
  readonly reason: string
  readonly actor: string
  readonly once: Once | undefined
}

/**
 * Stashes the work of a task: its changes since work began are stored in the state directory, the tree is put back, and
 * the task is parked. The plan is durable before anything happens; an interrupted stash is finished or undone at the
 * next start.
 */
export async function saveStash(app: App, request: SaveRequest): Promise<Result<JsonObject>> {
  const { taskId } = request
  const state = await app.ledger.peek(taskId)
  if (state === null) return noTask(taskId)
  const id = `st-${randomBytes(6).toString('hex')}`
  const decision = decideStash(state, { type: 'stash', stash: id, reason: request.reason })
  if (decision.refusal !== null) return toProblem(decision.refusal, {}, false)
  if (app.checking.has(taskId)) return refuse('conflict', `The gates of task ${taskId} are being checked.`)
  const other = await findOtherTask(app, state)
  if (other !== null)
    return refuse('conflict', `Task ${other} works in the same work tree: its work would be stashed too.`)
  const contract = await app.contracts.get(state.contract.hash)
  const then =
    app.trees.readMark(state.workspace, taskId, WORK_BEGAN) ??
    app.trees.readMark(state.workspace, taskId, contract.start)
  if (then === null)
    return refuse('conflict', `The work tree as it was when work on ${taskId} began was not recorded.`, {
      remedy: 'Put the work aside by hand, with git for example. With `reconcile: off` trees are not recorded.',
    })
  const shelf = new StashShelf(app.keptDir)
  if (shelf.list().length >= STASHES_MAX)
    return refuse('conflict', `There are ${STASHES_MAX} stashes already; pop or drop one first.`)
  app.checking.begin(taskId, 'tree')
  try {
    await app.running.settle(taskId, TOOLS_WAIT_MS)
    return await app.running.inTree(state.workspace, () =>
      saveChanges(app, { shelf, id, state, contract, then, request }),
    )
  } finally {
    app.checking.end(taskId)
  }
}

interface StashWork {
  readonly shelf: StashShelf
  readonly id: string
  readonly state: TaskState
  readonly contract: Contract
  readonly then: TreeIndex
  readonly request: SaveRequest
}

async function saveChanges(app: App, work: StashWork): Promise<Result<JsonObject>> {
  const { shelf, id, state } = work
  const changed = await findChanges(app, work)
  if (changed.length > PATHS_MAX)
    return refuse(
      'conflict',
      `${changed.length} paths changed since the work began; at most ${PATHS_MAX} can be stashed.`,
    )
  let isPublished = false
  try {
    shelf.begin(id)
    const kept = await keepAll(app, work, changed)
    if (!kept.ok) return kept
    shelf.publish(kept.value)
    isPublished = true
    for (let attempt = 0; attempt < QUIET_ATTEMPTS_MAX; attempt += 1) {
      const done = await app.ledger.hold(state.id, () => putAside(app, work, kept.value))
      if (done !== null) return done
      await app.running.settle(state.id, TOOLS_WAIT_MS)
    }
    shelf.remove(id)
    return refuse('conflict', `Tools of task ${state.id} keep running; nothing was stashed.`)
  } finally {
    if (!isPublished) shelf.discard(id)
  }
}

async function findChanges(app: App, { state, contract, then }: StashWork): Promise<readonly Difference[]> {
  const { index, isLeft } = await app.trees.compare(state.workspace)
  const isOutside = (path: string): boolean =>
    isLeft(path) || contract.enforcement.reconcileIgnore.some((pattern) => matchesGlob(pattern, path))
  const bare = (one: TreeIndex): TreeIndex => ({ ...one, packages: {} })
  return listDifferences(bare(then), bare(index)).filter(({ path }) => !isOutside(path))
}

/** Stores both sides of every path: the task's version and the original. */
async function keepAll(app: App, work: StashWork, changed: readonly Difference[]): Promise<Result<Stash>> {
  const { shelf, id, state, request, then } = work
  const { index } = await app.trees.compare(state.workspace)
  const paths: StashedPath[] = []
  const lost: string[] = []
  let bytes = 0
  for (const { path } of changed) {
    const was = then.entries[path] ?? null
    const now = index.entries[path] ?? null
    const before = isKeepable(path, was) ? await readContentBefore(app, state.workspace, { path, was }) : null
    const after = isKeepable(path, now) ? await readContentNow(state.workspace, path, now) : null
    if (before === null || after === null) {
      lost.push(path)
      continue
    }
    bytes += before.content.length + after.content.length
    if (bytes > ALL_BYTES_MAX)
      return refuse('conflict', `The work is larger than ${ALL_BYTES_MAX / 1024 / 1024} MiB; nothing was stashed.`)
    for (const [entry, { content }] of [[was, before] as const, [now, after] as const])
      if (findFileHash(entry) !== null) shelf.put(id, content)
    paths.push({ path, was, now, expected: app.trees.findExpectedEntry(state.workspace, path), mode: after.mode })
  }
  if (lost.length > 0)
    return refuse(
      'conflict',
      `These cannot be saved and restored (a link that leaves the tree, a special file, a file over ${FILE_BYTES_MAX / 1024 / 1024} MiB, or its earlier content is neither saved nor in git): ${lost.slice(0, NAMED_MAX).join(', ')}. Nothing was stashed.`,
      { paths: lost.slice(0, PATHS_TOLD_MAX), path_count: lost.length },
    )
  const { taskId, name, reason, actor } = request
  const about = { id, taskId, tree: state.workspace, name, reason, actor, phase: state.phase }
  return { ok: true, value: { ...about, savedAt: app.now(), stage: 'saving', bytes, paths } }
}

interface Content {
  readonly content: Buffer
  readonly mode: number | null
}

const NOTHING: Content = { content: Buffer.alloc(0), mode: null }

async function readContentBefore(
  app: App,
  tree: string,
  { path, was }: { readonly path: string; readonly was: string | null },
): Promise<Content | null> {
  const sha256 = findFileHash(was)
  if (sha256 === null) return NOTHING
  const content = await findContentByHash(app, { tree, path, sha256 })
  return content === null ? null : { content, mode: null }
}

// Stores only what matches the index: a file that changes during the read is not stored in a state it never had.
async function readContentNow(tree: string, path: string, now: string | null): Promise<Content | null> {
  const sha256 = findFileHash(now)
  if (sha256 === null) return NOTHING
  const opened = openFile(tree, path)
  if (!opened.ok) return null
  try {
    if (opened.stat.size > FILE_BYTES_MAX) return null
    const content = await readBytes(opened.fd, FILE_BYTES_MAX + 1)
    return sha256Hex(content) === sha256 ? { content, mode: Number(opened.stat.mode) & MODE_MASK } : null
  } finally {
    closeSync(opened.fd)
  }
}

/** Null: a tool of the task is running. Files are removed only after the ledger records the stash. */
async function putAside(app: App, work: StashWork, stash: Stash): Promise<Result<JsonObject> | null> {
  const { shelf, id, state, contract, request } = work
  if (app.running.isBusy(state.id)) return null
  const again = await findChanges(app, work)
  const { index } = await app.trees.compare(state.workspace)
  const isSame =
    again.length === stash.paths.length && stash.paths.every((path) => (index.entries[path.path] ?? null) === path.now)
  const target = { taskId: state.id, contract }
  const context = contextOf(app, request.actor)
  const isHolding = true
  const put = { type: 'stash', stash: id, reason: request.reason } as const
  const handled = isSame ? await app.ledger.apply(target, put, context, { isHolding }) : null
  if (handled === null || handled.refusal !== null) {
    shelf.remove(id)
    return handled?.refusal == null
      ? refuse('conflict', 'The work tree changed while it was saved; nothing was stashed. Try again.')
      : toProblem(handled.refusal, {}, false)
  }
  const done = await bringTo(app, shelf, stash, 'was')
  if (!done.ok) {
    const free = await isAgentFree(app, state.id)
    const resume = {
      type: 'resume',
      reason: `it could not be stashed: ${done.why}`,
      agentIsFree: free,
      stash: id,
    } as const
    await app.ledger.apply(target, resume, context, { isHolding })
    shelf.remove(id)
    return refuse('conflict', `${done.why}; nothing was stashed.`)
  }
  return recordSaved(app, work, shelf.setStage(stash, 'saved'))
}

async function recordSaved(app: App, work: StashWork, stash: Stash): Promise<Result<JsonObject>> {
  const { state, contract, request } = work
  const paths = stash.paths.slice(0, PATHS_TOLD_MAX).map((path) => path.path)
  const reason = `stashed as ${stash.id}: ${request.reason}`
  const commits = await app.ledger.store.query({ taskId: state.id, toolName: 'git_commit', success: true, limit: 1 })
  const hasCommits = commits.items.length > 0
  const { once } = request
  const handled = await app.ledger.apply(
    { taskId: state.id, contract },
    { type: 'tree_reverted', paths, pathCount: stash.paths.length, reason },
    contextOf(app, request.actor),
    {
      isHolding: true,
      remember: (done) => keepUnder(once, 201, () => ({ body: buildStashAnswer(stash, done.state, hasCommits) })),
    },
  )
  if (handled === null) throw new Error(`task ${state.id} is gone`)
  return { ok: true, value: buildStashAnswer(stash, handled.state, hasCommits) }
}
