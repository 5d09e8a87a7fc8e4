import type { Contract } from '../contract/contract.js'
import { OBSERVED_ARTIFACT } from '../gates/blockers.js'
import { isFinal } from '../gates/transition-rules.js'
import { isFinished, listAskedReviews, listReviewers, REVIEW_ARTIFACTS } from '../reviews/review.js'
import { formatClock } from '../text.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import type { TaskState } from './state.js'

/** Gates that are being checked now, for a request to enter a phase. */
export interface GateRun {
  readonly to: string
  readonly since: number
}

/** The next legal step of the agent that works on the task, in one sentence. */
export function nextStep(contract: Contract, state: TaskState, gateRun: GateRun | null = null): string {
  if (gateRun !== null && state.status === 'active') return awaitGates(state, gateRun)
  switch (state.status) {
    case 'queued':
    case 'interrupted':
      return 'Claim the task.'
    case 'parked':
      return 'Wait: an operator must resume the task.'
    case 'completed':
      return 'Nothing: the task is completed. Claim another one.'
    case 'cancelled':
      return 'Nothing: the task was cancelled. Claim another one.'
    case 'awaiting_approval':
      return 'Wait for the approval, then send the same transition request again.'
    case 'active':
      return state.watch.open === null
        ? (describeAnsweredApproval(contract, state) ?? leavePhase(contract, state))
        : 'Acknowledge the interrupt (continue), or ask for help.'
  }
}

function awaitGates({ phase }: TaskState, { to, since }: GateRun): string {
  const what = to === phase ? `The gates of ${phase} are` : `The gate from ${phase} to ${to} is`
  return `${what} being checked since ${formatClock(since)} UTC: wait for the answer to that request, and change nothing meanwhile. If the answer was that it is still being checked, send the same request again: it joins the running check.`
}

const COMMENT_CHARS_MAX = 500

function cutText(comment: string): string {
  const text = comment.length <= COMMENT_CHARS_MAX ? comment : `${comment.slice(0, COMMENT_CHARS_MAX)}…`
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

// The agent has to act on the latest answer of this visit.
function describeAnsweredApproval(contract: Contract, state: TaskState): string | null {
  const newest = [...state.approvals.values()].filter((one) => one.visit === state.visit).at(-1)
  if (newest === undefined) return null
  const { id, to, gate, status } = newest
  const rejects = requirePhase(contract, state.phase).gates.find((one) => one.id === gate)?.onTimeout === 'reject'
  if (status === 'approved') return `Approval ${id} was given: send the same transition request to ${to} again.`
  if (status === 'rejected') {
    const comment = newest.decisions.at(-1)?.comment ?? ''
    return comment === ''
      ? `Approval ${id} was rejected without a comment: ask the person what must change, then request ${to} again.`
      : `Approval ${id} was rejected: ${cutText(comment)} Change that, then request ${to} again.`
  }
  return status === 'expired' && rejects
    ? `Nobody answered approval ${id} in time: change the work or ask the operator, then request ${to} again.`
    : null
}

function leavePhase(contract: Contract, state: TaskState): string {
  const phase = requirePhase(contract, state.phase)
  const reviews = listAskedReviews(phase)
  const missing = phase.requiredArtifacts
    .map((artifact) => artifact.type)
    .filter((type) => reviews === null || !REVIEW_ARTIFACTS.includes(type))
    .filter((type) => state.artifacts.get(type)?.visit !== state.visit)
    // The agent does not hand in what Phaselock observes itself.
    .filter((type) => type !== OBSERVED_ARTIFACT || !contract.commands.has('tests'))
  const fields = [...phase.evidence].filter(([, field]) => !field.optional).map(([name]) => name)
  const unfinished = (reviews ?? []).filter((name) => !hasFinished(state, name)).map((name) => `the review ${name}`)
  const open = [...missing, ...fields, ...unfinished]
  const what = open.length === 0 ? `Finish ${state.phase}` : `Finish ${state.phase} (missing: ${open.join(', ')})`
  if (isFinal(contract, phase)) return `${what}, then request ${state.phase} itself to complete the task.`
  const ways = contract.transitions
    .filter((transition) => transition.from === state.phase)
    .map((transition) =>
      transition.when === null ? transition.to : `${transition.to} (with the claim ${transition.when})`,
    )
  return `${what}, then request ${[...new Set(ways)].join(' or ')}.`
}

function hasFinished(state: TaskState, name: string): boolean {
  return listReviewers(state).some(
    (reviewer) => reviewer.name === name && reviewer.report !== null && isFinished(reviewer.report.status),
  )
}
