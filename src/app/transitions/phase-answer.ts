import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { type Grant, issuePhaseToken } from '../identity/grant.js'
import { toPendingView } from '../tasks/views.js'
import { buildPhaseContent, collectOutputs, toTasksView } from './phase-content.js'
import { moveAnswer } from './request-transition.js'

interface Completion {
  readonly body: JsonObject
  /** The phase whose content belongs to the answer, and the visit it was given in. */
  readonly phase: string
  readonly visit: number
  readonly task: string
  readonly grant?: Grant
}

/** The answer to a completion; also given again to a client that lost it. Contents are shown while the task is still there. */
export async function buildCompletionAnswer(app: App, answer: JsonObject): Promise<JsonObject> {
  if (answer.completion === undefined) return moveAnswer(app, answer)
  const { body, phase, visit, task, grant } = answer.completion as unknown as Completion
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
