import { existsSync } from 'node:fs'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { refuseWorktreeEnd } from '../../core/task/worktree.js'
import type { App } from '../app.js'
import { applyTo } from '../find-task.js'
import { keepBody, type Once } from '../kept-answer.js'
import { noTask, ok, type Result, refuse, toProblem } from '../result.js'
import { toTaskView } from '../tasks/views.js'
import { commitSource, fetchInto, openSource } from './repository-source.js'
import { findPlace, removePlace } from './worktree-place.js'

interface EndRequest {
  readonly taskId: string
  readonly end: 'hand_over' | 'discard'
  /** Discards completed work too. */
  readonly force: boolean
  /** Includes uncommitted changes. */
  readonly commit: boolean
  readonly reason: string
  readonly actor: string
  readonly once: Once | undefined
}

/** Leaves the work as a branch in the repository, or discards it. Either way the task's own work tree is removed. */
export async function endWorktree(app: App, request: EndRequest): Promise<Result<JsonObject>> {
  const { taskId, end } = request
  const state = await app.ledger.peek(taskId)
  if (state === null) return noTask(taskId)
  return app.running.inTree(state.worktree?.repository ?? state.workspace, () =>
    app.ledger.hold(taskId, async () => {
      const now = (await app.ledger.peek(taskId)) ?? state
      const refused = refuseWorktreeEnd(now, end, request.force)
      if (refused !== null && refused.refusal !== null) return toProblem(refused.refusal, {}, false)
      const commit = end === 'discard' ? ok('') : await handOver(app, now, request)
      return commit.ok ? applyEnd(app, now, { request, commit: commit.value }) : commit
    }),
  )
}

async function handOver(app: App, state: TaskState, request: EndRequest): Promise<Result<string>> {
  const source = openSource(app, state)
  if (!source.ok) return source
  const { worktree } = source.value
  if (!existsSync(worktree.repository))
    return refuse('conflict', `The repository ${worktree.repository} does not exist.`)
  const tip = await commitSource(source.value, { commit: request.commit })
  if (!tip.ok) return tip
  const fetched = await fetchInto(source.value, tip.value, `refs/heads/${worktree.branch}`)
  return fetched.ok ? tip : fetched
}

async function applyEnd(
  app: App,
  state: TaskState,
  { request, commit }: { readonly request: EndRequest; readonly commit: string },
): Promise<Result<JsonObject>> {
  const { once, end, force, reason } = request
  const contract = await app.contracts.get(state.contract.hash)
  const command = { type: 'end_worktree', end, force, reason, ...(commit === '' ? {} : { commit }) } as const
  const by = { actor: request.actor, isHolding: true, remember: keepBody(once, 200, toTaskView) }
  const handled = await applyTo(app, { state, contract }, command, by)
  if (!handled.ok) return handled
  removePlace(findPlace(app, state.id))
  return ok(toTaskView(handled.value.state))
}
