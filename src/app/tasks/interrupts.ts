import type { JsonObject } from '../../core/json.js'
import type { Violation } from '../../core/rules/evaluate.js'
import { formatInterrupt } from '../../core/rules/interrupt-text.js'
import type { TaskState } from '../../core/task/state.js'
import { toIsoTime } from '../wire.js'

const CONTINUE_CALL = 'POST /api/v1/prompt/continue'

/** The interrupt that the agent was shown and has not acknowledged; null when there is none. */
export function findInterrupt(state: TaskState): JsonObject | null {
  const { open } = state.watch
  return open === null ? null : toInterruptView(state, open.violation)
}

export function toInterruptView(state: TaskState, violation: Violation): JsonObject {
  return {
    kind: 'interrupt',
    text: formatInterrupt(violation, { phase: state.phase, continueWith: CONTINUE_CALL }),
    phase: state.phase,
    violation: toViolationView(violation),
  }
}

export function toViolationView(violation: Violation): JsonObject {
  const { rule, rule_type, diagnostic, suggestion, metrics_snapshot } = violation
  return {
    ...{ rule, rule_type, diagnostic, suggestion, metrics_snapshot },
    recent_events: violation.recent_events.map(({ at, text }) => ({ at: toIsoTime(at), text })),
  }
}
