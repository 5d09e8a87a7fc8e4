import { existsSync } from 'node:fs'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { worktreeRefusal } from '../../core/task/worktree.js'
import type { App } from '../app.js'
import { applyTo } from '../find-task.js'
import { keepBody, type Once } from '../kept-answer.js'
import { noTask, ok, type Result, refuse, refusedBy } from '../result.js'
import { taskView } from '../tasks/views.js'
import { committedSource, fetchInto, sourceOf } from './repository-source.js'
import { placeOf, removePlace } from './worktree-place.js'

interface EndRequest {
  readonly taskId: string
  readonly end: 'hand_over' | 'discard'
  /** Discards also what is completed. */
  readonly force: boolean
  /** Hands over also what no commit holds. */
  readonly commit: boolean
  readonly reason: string
  readonly actor: string
  readonly once: Once | undefined
}

/** Leaves the work as a branch in the repository, or gives it up. Either way the task's own work tree is removed. */
export async function endWorktree(app: App, request: EndRequest): Promise<Result<JsonObject>> {
  const { taskId, end } = request
  const state = await app.ledger.peek(taskId)
  if (state === null) return noTask(taskId)
  return app.running.inTree(state.worktree?.repository ?? state.workspace, () =>
    app.ledger.hold(taskId, async () => {
      const now = (await app.ledger.peek(taskId)) ?? state
      const refused = worktreeRefusal(now, end, request.force)
      if (refused !== null && refused.refusal !== null) return refusedBy(refused.refusal, {}, false)
      const commit = end === 'discard' ? ok('') : await handedOver(app, now, request)
      return commit.ok ? ended(app, now, { request, commit: commit.value }) : commit
    }),
  )
}

async function handedOver(app: App, state: TaskState, request: EndRequest): Promise<Result<string>> {
  const source = sourceOf(app.stateDir, state)
  if (!source.ok) return source
  const { worktree } = source.value
  if (!existsSync(worktree.repository)) return refuse('conflict', `The repository ${worktree.repository} is not there.`)
  const tip = await committedSource(source.value, { commit: request.commit })
  if (!tip.ok) return tip
  const fetched = await fetchInto(source.value, tip.value, `refs/heads/${worktree.branch}`)
  return fetched.ok ? tip : fetched
}

async function ended(
  app: App,
  state: TaskState,
  { request, commit }: { readonly request: EndRequest; readonly commit: string },
): Promise<Result<JsonObject>> {
  const { once, end, force, reason } = request
  const contract = await app.contracts.get(state.contract.hash)
  const command = { type: 'end_worktree', end, force, reason, ...(commit === '' ? {} : { commit }) } as const
  const by = { actor: request.actor, isHolding: true, remember: keepBody(once, 200, taskView) }
  const handled = await applyTo(app, { state, contract }, command, by)
  if (!handled.ok) return handled
  removePlace(placeOf(app.stateDir, state.id))
  return ok(taskView(handled.value.state))
}
