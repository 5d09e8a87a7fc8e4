import type { Contract, Phase } from '../contract/contract.js'
import type { BlockerFound, TaskFact } from '../task/event.js'
import type { Decision } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { makeBlocker } from './blockers.js'
import type { Demand } from './transition-rules.js'

/** How often a task may go back to its tests the same way before a person looks at it: each time they are run once more. */
const WAYS_BACK_MAX = 10

/** Counts a way back that was taken; rules begin anew with each visit, this does not. */
export function countWayBack(state: TaskState, from: string, to: string): Readonly<Record<string, number>> {
  const key = formatWay(from, to)
  return { ...state.waysBack, [key]: (state.waysBack?.[key] ?? 0) + 1 }
}

/** Why the task goes in circles and has to wait for a person; null while it may go on. */
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

/** Whether the phase is left by tests that were seen failing. */
export function isRed(phase: Phase | undefined): boolean {
  return (phase?.gates ?? []).some((gate) => gate.blockers.some((blocker) => blocker.check === 'tests_are_failing'))
}

function formatWay(from: string, to: string): string {
  return `${from} > ${to}`
}
