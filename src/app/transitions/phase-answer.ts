import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { issuePhaseToken } from '../identity/grant.js'
import type { Completion } from '../kept-answer.js'
import { toPendingView } from '../tasks/views.js'
import { buildPhaseContent, collectOutputs, toTasksView } from './phase-content.js'

/**
 * The answer to a completion; also sent again to a client that lost it. Contents are shown while the task is still in
 * that phase.
 */
export async function buildCompletionAnswer(app: App, completion: Completion): Promise<JsonObject> {
  const { body, phase, visit, task, grant } = completion
  const state = await app.ledger.read(task)
  if (state === null || body.workflow_complete === true) return body
  const contract = await app.contracts.get(state.contract.hash)
  const isThere = state.phase === phase && state.visit === visit
  const content = isThere ? await buildPhaseContent(app, contract, state, phase) : null
  const current = contract.phases.get(phase)
  const tasks = isThere && current !== undefined ? toTasksView(current, state) : {}
  if (grant === undefined) {
    const pending = isThere ? toPendingView(state) : null
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
    artifacts_available: isThere ? await collectOutputs(app, contract, state) : {},
    ...(await issuePhaseToken(app, grant)),
  }
}
