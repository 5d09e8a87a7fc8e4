import type { Contract, Phase } from '../contract/contract.js'
import type { TaskFact } from '../task/event.js'
import type { BlockerFound } from '../task/fact-parts.js'
import type { Decision } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { makeBlocker } from './blockers.js'
import type { Demand } from './transition-rules.js'

/**
 * How often a task may take the same way back to its tests before an operator looks at it: each time the tests run
 * again.
 */
const WAYS_BACK_MAX = 10

/** Counts a way back. Unlike rules, this does not start over with each visit. */
export function countWayBack(state: TaskState, from: string, to: string): Readonly<Record<string, number>> {
  const key = formatWay(from, to)
  return { ...state.waysBack, [key]: (state.waysBack?.[key] ?? 0) + 1 }
}

/** Why the task goes in circles and has to wait for an operator; null while it may continue. */
export function findLoop(contract: Contract, state: TaskState, { transition, full }: Demand): BlockerFound | null {
  if (transition === null || full || !isRed(contract.phases.get(transition.to))) return null
  const taken = state.waysBack?.[formatWay(state.phase, transition.to)] ?? 0
  if (taken < WAYS_BACK_MAX) return null
  return makeBlocker('rule_interrupt', {
    message: `The task went back from ${state.phase} to ${transition.to} ${taken} times: it goes in circles`,
    remedy: 'Wait for an operator, who looks at it and resumes the task.',
  })
}

export function addParking(decision: Decision, { message }: BlockerFound): Decision {
  if (decision.kind !== 'decided' || decision.facts.some((fact) => fact.type === 'task_parked')) return decision
  const parked: TaskFact = { type: 'task_parked', reason: message, code: 'rule_interrupt' }
  return { ...decision, facts: [...decision.facts, parked] }
}

/** Whether a gate of the phase requires tests that were observed failing. */
export function isRed(phase: Phase | undefined): boolean {
  return (phase?.gates ?? []).some((gate) => gate.blockers.some((blocker) => blocker.check === 'tests_are_failing'))
}

function formatWay(from: string, to: string): string {
  return `${from} > ${to}`
}
