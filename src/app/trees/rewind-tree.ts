import { matchesGlob } from '../../contract/glob.js'
import type { Contract } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import { rewind } from '../../core/task/lifecycle.js'
import type { TaskState } from '../../core/task/state.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import { TREE_PROBLEMS } from '../../tree/problems.js'
import { type Difference, listDifferences, type TreeIndex } from '../../tree/tree-contents.js'
import type { TreeStep } from '../../tree/write/tree-steps.js'
import type { App } from '../app.js'
import { applyTo } from '../find-task.js'
import { keepBody, type Once } from '../kept-answer.js'
import type { ApplyOptions, CommandResult } from '../ledger/ledger.js'
import { noTask, ok, type Result, refuse, toProblem } from '../result.js'
import { toTaskView } from '../tasks/views.js'
import { isWorkedOn, listTasksInTree } from './list-tasks-in-tree.js'
import { findContentByHash } from './reconcile.js'
import { makeWriteTree, NotWritten, recordWithTree, type TreeChange } from './tree-changes.js'
import type { Line } from './tree-journal.js'
import { formatVisitMoment } from './tree-moments.js'

const PATHS_MAX = 2000
const PATHS_TOLD_MAX = 200
const NAMED_MAX = 20
const TOOLS_WAIT_MS = 10_000

interface RewindRequest {
  readonly taskId: string
  readonly to: string
  readonly reason: string
  readonly agentIsFree: boolean
  readonly actor: string
  readonly once: Once | undefined
}

/** Rewinds a task to a phase, and its work tree to how it was when that phase was entered. All of it or nothing. */
export async function rewindTree(app: App, request: RewindRequest): Promise<Result<JsonObject>> {
  const { taskId, to } = request
  const state = await app.ledger.peek(taskId)
  if (state === null) return noTask(taskId)
  if (app.checking.has(taskId)) return refuse('conflict', `The gates of task ${taskId} are being checked.`)
  const contract = await app.contracts.get(state.contract.hash)
  const decision = rewind(contract, state, makeRewindCommand(request))
  if (decision.refusal !== null) return toProblem(decision.refusal, {}, false)
  const other = await findOtherTask(app, state)
  if (other !== null)
    return refuse('conflict', `Task ${other} works in the same work tree: its work would be undone too.`)
  const then = app.trees.readMark(state.workspace, taskId, to)
  if (then === null)
    return refuse(
      'conflict',
      `The work tree as it was when ${to} was entered was not recorded. Rewind without restore_tree, and restore it by hand.`,
    )
  app.checking.begin(taskId, 'tree')
  try {
    await app.running.settle(taskId, TOOLS_WAIT_MS)
    return await app.running.inTree(state.workspace, () => restoreTree(app, { state, contract, then, request }))
  } finally {
    app.checking.end(taskId)
  }
}

interface RewindWork {
  readonly state: TaskState
  readonly contract: Contract
  readonly then: TreeIndex
  readonly request: RewindRequest
}

async function restoreTree(app: App, { state, contract, then, request }: RewindWork): Promise<Result<JsonObject>> {
  const { index: now, isLeft } = await app.trees.compare(state.workspace)
  const isOutside = (path: string): boolean =>
    isLeft(path) || contract.enforcement.reconcileIgnore.some((pattern) => matchesGlob(pattern, path))
  const changed = listDifferences({ ...then, packages: {} }, { ...now, packages: {} }).filter(
    ({ path }) => !isOutside(path),
  )
  if (changed.length > PATHS_MAX)
    return refuse(
      'conflict',
      `${changed.length} paths changed since ${request.to} was entered; at most ${PATHS_MAX} can be restored.`,
    )
  const plan = await planSteps(app, state, { then, now, changed })
  if (plan.unknown.length > 0)
    return refuse(
      'conflict',
      `The content of these paths when ${request.to} was entered is neither saved nor in git: ${plan.unknown.slice(0, NAMED_MAX).join(', ')}. Nothing was changed.`,
      { paths: plan.unknown.slice(0, PATHS_TOLD_MAX), path_count: plan.unknown.length },
    )
  const lines: readonly Line[] = changed.map(({ path }) => [path, then.entries[path] ?? null])
  const restore = async (change: TreeChange, { state: after }: CommandResult): Promise<void> => {
    const moments = [request.to, formatVisitMoment(after.visit)]
    const follow = { dropsLayer: true, moments }
    const done = await change.apply({ steps: plan.steps, lines: () => lines, follow })
    if (!done.ok) throw new NotWritten(`${JSON.stringify(done.path)} ${TREE_PROBLEMS[done.problem]}`)
  }
  const paths = changed.map((difference) => difference.path)
  return recordWithTree(app, state, (change) => {
    const writeTree = makeWriteTree(change, restore)
    return record(app, { state, contract, request, paths, change, writeTree })
  }).catch((error: unknown) => {
    if (!(error instanceof NotWritten)) throw error
    return refuse('conflict', `${error.message}; nothing was restored.`)
  })
}

async function record(
  app: App,
  work: Omit<RewindWork, 'then'> & {
    readonly paths: readonly string[]
    readonly change: TreeChange
    readonly writeTree: NonNullable<ApplyOptions['writeTree']>
  },
): Promise<Result<JsonObject>> {
  const { request, paths, change, writeTree } = work
  const { once, actor } = request
  const told = { paths: paths.slice(0, PATHS_TOLD_MAX), pathCount: paths.length }
  const answerOf = (done: TaskState): JsonObject => ({
    ...toTaskView(done),
    restored: told.paths,
    restored_count: told.pathCount,
  })
  const by = { actor, isHolding: true, remember: keepBody(once, 200, answerOf), writeTree }
  const handled = await applyTo(app, work, { ...makeRewindCommand(request), restored: told }, by)
  if (!handled.ok) return handled
  change.confirm(handled.value)
  return ok(answerOf(handled.value.state))
}

function makeRewindCommand({ to, reason, agentIsFree }: RewindRequest) {
  return { type: 'rewind', to, reason, agentIsFree } as const
}

/** Another task in the same tree that an agent holds; null: none. */
export async function findOtherTask(app: App, state: TaskState): Promise<string | null> {
  return (await listTasksInTree(app, state)).find(isWorkedOn)?.id ?? null
}

interface TreeComparison {
  readonly then: TreeIndex
  readonly now: TreeIndex
  readonly changed: readonly Difference[]
}

// Obstacles are removed first.
async function planSteps(
  app: App,
  state: TaskState,
  { then, now, changed }: TreeComparison,
): Promise<{ readonly steps: readonly TreeStep[]; readonly unknown: readonly string[] }> {
  const gone: TreeStep[] = []
  const back: TreeStep[] = []
  const unknown: string[] = []
  const created = changed.filter((difference) => difference.kind === 'created').map((difference) => difference.path)
  const covered = new Set<string>()
  for (const { path, kind } of changed) {
    const was = then.entries[path] ?? ''
    const is = now.entries[path] ?? ''
    const isFolder = kind === 'deleted' && created.some((one) => one.startsWith(`${path}/`))
    if (isFolder || (kind === 'modified' && was.split(' ')[0] !== is.split(' ')[0])) {
      covered.add(path)
      gone.push({ type: 'delete', path, isRecursive: true })
    }
    if (kind === 'created') continue
    const step = await stepBack(app, state, { path, was })
    if (step === null) unknown.push(path)
    else back.push(step)
  }
  const isCovered = (path: string): boolean => [...covered].some((one) => path.startsWith(`${one}/`))
  for (const path of created) if (!isCovered(path)) gone.push({ type: 'delete', path })
  return { steps: [...gone, ...back], unknown }
}

async function stepBack(
  app: App,
  state: TaskState,
  { path, was }: { readonly path: string; readonly was: string },
): Promise<TreeStep | null> {
  const sha256 = findFileHash(was)
  if (sha256 !== null) {
    const content = await findContentByHash(app, { tree: state.workspace, path, sha256 })
    return content === null ? null : { type: 'write', path, content }
  }
  const [, target] = /^link (.+)$/s.exec(was) ?? []
  return target === undefined || target === '?' ? null : { type: 'make_link', path, target }
}
