import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import type { Result } from '../result.js'
import { listAllowedTools } from '../tasks/views.js'
import type { GateRequest } from './long-gates.js'

/**
 * Answers a request to leave a phase. Slow gates are answered with `checking`, and sending the request again joins
 * them.
 */
export function answerSoon(
  app: App,
  request: GateRequest,
  work: () => Promise<Result<JsonObject>>,
): Promise<Result<JsonObject>> {
  return app.longGates.answer(request, {
    work,
    checking: () => buildCheckingAnswer(app, request),
    positionOf: async () => {
      const state = await findHeldState(app, request)
      return state === null ? null : `${state.id} ${state.epoch}`
    },
  })
}

async function findHeldState(app: App, { bearer }: GateRequest): Promise<TaskState | null> {
  const taskId = bearer.kind === 'phase' ? bearer.taskId : (await app.ledger.store.findHeldBy(bearer.agentId))?.id
  return taskId === undefined ? null : app.ledger.peek(taskId)
}

const CHECKING_TEXT = 'The gates are being checked. Send the same request again to wait for the answer.'

/** The answer while gates are still being checked. It is not a refusal, and nothing is counted. */
async function buildCheckingAnswer(app: App, request: GateRequest): Promise<JsonObject> {
  const { kind } = request
  const state = await findHeldState(app, request)
  const contract = state === null ? null : await app.contracts.get(state.contract.hash)
  const about = {
    checking: true,
    phase: state?.phase ?? null,
    task_id: state?.id ?? null,
    allowed_tools: state === null || contract === null ? [] : listAllowedTools(contract, state),
    next_step: CHECKING_TEXT,
  }
  if (kind === 'completion') return { checkpoint_passed: false, ...about, message: CHECKING_TEXT }
  const answer = { allowed: false, ...about, phase_token: null, blockers: [], warnings: [] }
  return kind === 'next' ? { ...answer, kind: 'prompt', text: CHECKING_TEXT } : answer
}
