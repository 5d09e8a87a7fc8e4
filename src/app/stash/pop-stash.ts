import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { type App, contextOf } from '../app.js'
import { keepBody, type Once } from '../kept-answer.js'
import type { CommandResult } from '../ledger/ledger.js'
import { AgentBusy } from '../ledger/ledger-errors.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { isAgentFree } from '../tasks/operate.js'
import { runWithPathLease } from '../tasks/path-leases.js'
import { toTaskView } from '../tasks/views.js'
import { findOtherTask } from '../trees/rewind-tree.js'
import { WORK_BEGAN } from '../trees/trees.js'
import { toStashView } from './list-stashes.js'
import { finishStash } from './recover-stashes.js'
import { bringTo, findStrayPaths } from './stash-steps.js'
import { type Stash, StashShelf } from './stash-store.js'

const PATHS_TOLD_MAX = 200
const NAMED_MAX = 20

interface StashRequest {
  readonly id: string
  readonly reason: string
  readonly actor: string
  readonly once: Once | undefined
}

interface PopWork {
  readonly shelf: StashShelf
  readonly stash: Stash
  readonly state: TaskState
  readonly contract: Contract
  readonly request: StashRequest
}

/** Restores the work of a task exactly as it was and resumes the task. All of it or nothing. */
export async function popStash(app: App, request: StashRequest): Promise<Result<JsonObject>> {
  const found = await openStash(app, request)
  if (!found.ok) return found
  const work = found.value
  const { stash, state } = work
  if (state.stash !== stash.id || state.status !== 'parked')
    return refuse('conflict', `Task ${state.id} is ${state.status}; stash ${stash.id} can only be dropped.`)
  const other = await findOtherTask(app, state)
  if (other !== null)
    return refuse('conflict', `Task ${other} works in the same work tree; stash or finish it first.`, {
      task_id: other,
    })
  return app.running.inTree(stash.tree, () => app.ledger.hold(state.id, () => restoreStash(app, work)))
}

async function restoreStash(app: App, work: PopWork): Promise<Result<JsonObject>> {
  const { shelf, state, contract, request } = work
  const { stash } = work
  // Of two concurrent calls, the second finds nothing to restore.
  if (shelf.get(stash.id)?.stage !== 'saved') return refuse('conflict', `Stash ${stash.id} is gone.`)
  const { index } = await app.trees.compare(stash.tree)
  const inTheWay = [...new Set([...findStrayPaths(stash, index.entries, ['was']), ...findUnseenPaths(stash)])]
  if (inTheWay.length > 0)
    return refuse(
      'conflict',
      `These paths changed since the task was stashed: ${inTheWay.slice(0, NAMED_MAX).join(', ')}. Nothing was changed.`,
      {
        paths: inTheWay.slice(0, PATHS_TOLD_MAX),
        path_count: inTheWay.length,
        remedy: 'Put them back, with git for example, and pop again.',
      },
    )
  // Changes others made in the tree meanwhile are not this task's work: stashing again would not include them.
  app.trees.mark(stash.tree, state.id, WORK_BEGAN)
  app.views.begin(state.id, stash.tree, Date.now())
  const popping = shelf.setStage(stash, 'popping')
  const done = await bringTo(app, shelf, popping, 'now')
  if (!done.ok) {
    shelf.setStage(stash, 'saved')
    return refuse('conflict', `${done.why}; nothing was brought back.`)
  }
  const reason = `stash ${stash.id} popped: ${request.reason}`
  const handled = await resumeTask(app, work, reason)
  if (handled.refusal !== null) {
    await bringTo(app, shelf, popping, 'was')
    shelf.setStage(stash, 'saved')
    return toProblem(handled.refusal, {}, false)
  }
  const paths = stash.paths.slice(0, PATHS_TOLD_MAX).map((path) => path.path)
  const back = { type: 'tree_accepted', paths, pathCount: stash.paths.length, reason } as const
  const context = contextOf(app, request.actor)
  await app.ledger.apply({ taskId: state.id, contract }, back, context, { isHolding: true })
  shelf.remove(stash.id)
  return ok(answerOf(stash, handled.state))
}

async function resumeTask(
  app: App,
  { state, contract, stash, request }: PopWork,
  reason: string,
): Promise<CommandResult> {
  const { once } = request
  const apply = async (isFree: boolean): Promise<CommandResult> => {
    const command = { type: 'resume', reason, agentIsFree: isFree, stash: stash.id } as const
    const handled = await app.ledger.apply({ taskId: state.id, contract }, command, contextOf(app, request.actor), {
      isHolding: true,
      remember: keepBody(once, 200, (state) => answerOf(stash, state)),
    })
    if (handled === null) throw new Error(`task ${state.id} is gone`)
    return handled
  }
  try {
    if (!(await isAgentFree(app, state.id))) return await apply(false)
    const entering = { state, contract, phase: state.phase, agentId: state.held?.agentId ?? '' }
    const leased = await runWithPathLease(app, entering, async () => ok(await apply(true)))
    return leased.ok ? leased.value : await apply(false)
  } catch (error) {
    // Its agent has just claimed another task.
    if (!(error instanceof AgentBusy)) throw error
    return apply(false)
  }
}

function answerOf(stash: Stash, state: TaskState): JsonObject {
  const paths = stash.paths.slice(0, PATHS_TOLD_MAX).map((path) => path.path)
  return { ...toTaskView(state), restored: paths, restored_count: stash.paths.length }
}

// Paths that are ignored now are in no index, but would still be overwritten.
function findUnseenPaths(stash: Stash): readonly string[] {
  const isThere = (path: string): boolean => {
    try {
      return lstatSync(join(stash.tree, path), { throwIfNoEntry: false }) !== undefined
    } catch (error) {
      // A parent folder became a file: the write detects it and reports it.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false
      throw error
    }
  }
  return stash.paths.filter(({ path, was }) => was === null && isThere(path)).map(({ path }) => path)
}

/** Deletes a stash for good. */
export async function dropStash(app: App, request: StashRequest): Promise<Result<JsonObject>> {
  const found = await openStash(app, request)
  if (!found.ok) return found
  const { shelf, stash, state, contract } = found.value
  const { once, actor, reason } = request
  const answer = (done: TaskState): JsonObject => ({ ...toStashView(stash, done), status: 'dropped' })
  const dropping = shelf.setStage(stash, 'dropping')
  if (state.stash === stash.id && state.status === 'parked') {
    const command = { type: 'drop_stash', stash: stash.id, reason } as const
    const handled = await app.ledger.apply({ taskId: state.id, contract }, command, contextOf(app, actor), {
      remember: keepBody(once, 200, answer),
    })
    if (handled !== null && handled.refusal !== null) {
      shelf.setStage(dropping, 'saved')
      return toProblem(handled.refusal, {}, false)
    }
  }
  shelf.remove(stash.id)
  return ok(answer((await app.ledger.read(state.id)) ?? state))
}

/** The stash with its task. An interrupted operation is finished first. */
async function openStash(app: App, request: StashRequest): Promise<Result<PopWork>> {
  const shelf = new StashShelf(app.keptDir)
  const first = shelf.get(request.id)
  if (first === null) return refuse('not_found', `There is no stash ${JSON.stringify(request.id)}.`)
  const state = await app.ledger.peek(first.taskId)
  if (state === null) return refuse('not_found', `The task ${first.taskId} of stash ${first.id} is not in the ledger.`)
  if (app.checking.has(state.id)) return refuse('conflict', `Task ${state.id} is being stashed.`)
  const problem = first.stage === 'saved' ? null : await app.ledger.hold(state.id, () => finishStash(app, shelf, first))
  if (problem !== null) return refuse('conflict', problem)
  const stash = shelf.get(request.id)
  if (stash === null) return refuse('not_found', `Stash ${request.id} is gone.`)
  const contract = await app.contracts.get(state.contract.hash)
  return ok({ shelf, stash, state, contract, request })
}
