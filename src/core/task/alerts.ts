import type { Contract } from '../contract/contract.js'
import type { AlertCondition } from '../contract/contract-parts.js'
import { assertUnreachable } from '../unreachable.js'
import type { Context } from './command.js'
import type { TaskFact } from './event.js'
import { type Decision, makeDecision } from './refusal.js'
import type { TaskState } from './state.js'

/** Below this number of gate decisions a task has no rate: one closed gate is not a trend. */
const RATE_DECISIONS_MIN = 4

const WAITS: ReadonlySet<TaskState['status']> = new Set<TaskState['status']>([
  ...(['active', 'awaiting_approval', 'interrupted', 'queued'] as const),
])

/** Raises each alert once, and clears it when its condition ends. */
export function checkAlerts(contract: Contract, state: TaskState, context: Context): Decision {
  const facts: TaskFact[] = []
  for (const { condition, limit, message } of contract.alerts ?? []) {
    const alert = formatAlertName(condition, limit)
    const value = measureCondition(condition, state, context.now)
    const isAbove = value !== null && value > limit
    if (isAbove && !state.alerts.has(alert))
      facts.push({ type: 'alert_raised', alert, condition, limit, value, message })
    if (!isAbove && state.alerts.has(alert)) facts.push({ type: 'alert_cleared', alert, condition })
  }
  return makeDecision(facts)
}

function formatAlertName(condition: AlertCondition, limit: number): string {
  return `${condition} > ${limit}`
}

function measureCondition(condition: AlertCondition, state: TaskState, now: number): number | null {
  switch (condition) {
    case 'gate_block_rate': {
      const decisions = state.gates.passed + state.gates.blocked
      const isOver = state.status === 'completed' || state.status === 'cancelled'
      return isOver || decisions < RATE_DECISIONS_MIN
        ? null
        : Math.round((state.gates.blocked / decisions) * 1000) / 1000
    }
    case 'task_stuck_in_phase':
      return state.visit > 0 && WAITS.has(state.status) ? countSecondsSince(state.visitStartedAt, now) : null
    case 'approval_waiting': {
      const pending = [...state.approvals.values()].filter((approval) => approval.status === 'pending')
      if (pending.length === 0 || !WAITS.has(state.status)) return null
      return countSecondsSince(Math.min(...pending.map((approval) => approval.requestedAt)), now)
    }
    default:
      return assertUnreachable(condition)
  }
}

function countSecondsSince(then: number, now: number): number {
  return Math.floor((now - then) / 1000)
}
