import { openQuestions } from '../approvals/question.js'
import type { Contract } from '../contract/contract.js'
import type { TaskState } from './state.js'

/**
 * Whether the agent has been waiting for a person who has not answered yet, or answered less than a lease ago. Waiting
 * is not idling: the agent keeps its task, and has a whole lease to return after the answer.
 */
export function isWaitingForPeople(contract: Contract, state: TaskState, now: number): boolean {
  const approvals = [...state.approvals.values()]
  if (approvals.some((approval) => approval.status === 'pending') || openQuestions(state).length > 0) return true
  const since = now - contract.enforcement.leaseSeconds * 1000
  return findAnswerTime(state) > since
}

function findAnswerTime(state: TaskState): number {
  const decided = [...state.approvals.values()].flatMap(({ decisions, status, expiresAt }) => [
    ...decisions.map((decision) => decision.at),
    ...(status === 'expired' ? [expiresAt] : []),
  ])
  const answered = [...state.questions.values()].map((question) => question.answer?.at ?? 0)
  return Math.max(0, ...decided, ...answered)
}
