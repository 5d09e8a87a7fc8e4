import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { withToken } from '../identity/grant.js'
import type { Completion } from '../kept-answer.js'
import { pendingView } from '../tasks/views.js'
import { outputsOf, phaseContent, tasksView } from './phase-content.js'

/** The answer to a completion; also given again to a client that lost it. Contents are shown while the task is still there. */
export async function completionAnswer(app: App, completion: Completion): Promise<JsonObject> {
  const { body, phase, visit, task, grant } = completion
  const state = await app.ledger.read(task)
  if (state === null || body.workflow_complete === true) return body
  const contract = await app.contracts.get(state.contract.hash)
  const isThere = state.phase === phase && state.visit === visit
  const content = isThere ? await phaseContent(app, contract, state, phase) : null
  const current = contract.phases.get(phase)
  const tasks = isThere && current !== undefined ? tasksView(current, state) : {}
  if (grant === undefined) {
    const pending = isThere ? pendingView(state) : null
    return {
      ...body,
      current_phase_content: content,
      ...tasks,
      ...(pending === null ? {} : { pending_approval: pending }),
    }
  }
  return {
    ...body,
    next_phase_content: content,
    ...tasks,
    artifacts_available: isThere ? await outputsOf(app, contract, state) : {},
    ...(await withToken(app, grant)),
  }
}
