import type { Contract } from './contract/contract.js'
import type { BlockerFound } from './task/fact-parts.js'
import { type Decision, getMode } from './task/refusal.js'
import type { TaskState } from './task/state.js'

const isDoubted = ({ check }: BlockerFound): boolean => check === 'tests_can_fail'

/** Counts refusals of the inverted run. Unlike `denialsInARow`, writing files does not reset it. */
export function addDoubtToState(
  state: TaskState,
  { blockers }: { readonly blockers: readonly BlockerFound[] },
): TaskState {
  return blockers.some(isDoubted) ? { ...state, testsDoubted: (state.testsDoubted ?? 0) + 1 } : state
}

/** Parks a task whose tests were refused too often, so that randomly failing code cannot retry until it passes. */
export function parkIfDoubted(contract: Contract, state: TaskState, decision: Decision): Decision {
  if (decision.kind !== 'decided' || decision.facts.some((fact) => fact.type === 'task_parked')) return decision
  const isRefused = decision.facts.some((fact) => fact.type === 'gate_blocked' && fact.blockers.some(isDoubted))
  const times = (state.testsDoubted ?? 0) + 1
  if (!isRefused || times < contract.enforcement.denialBudget || getMode(contract, state) === 'advisory')
    return decision
  const reason = `tests_can_fail refused the tests ${times} times (denial_budget ${contract.enforcement.denialBudget}): look at the tests and the code with \`phaselock task show ${state.id}\` and resume the task`
  return { ...decision, facts: [...decision.facts, { type: 'task_parked', reason, code: 'check_failed' }] }
}
