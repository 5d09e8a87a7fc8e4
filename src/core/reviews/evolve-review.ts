import type { TaskEvent } from '../task/event.js'
import type { Reviewer, TaskState } from '../task/state.js'
import { assertUnreachable } from '../unreachable.js'
import { HOLDERS_MAX, isFinished, isStartedBy } from './review.js'

type ReviewEvent = TaskEvent & {
  type: 'reviewer_added' | 'reviewer_revoked' | 'review_submitted' | 'review_refused'
}

export function reviewChanged(state: TaskState, event: ReviewEvent): TaskState {
  switch (event.type) {
    case 'reviewer_added':
      return applyReviewerAdded(state, event)
    case 'reviewer_revoked':
      return updateReviewer(state, event.reviewer, () => ({ status: 'revoked', report: null }))
    case 'review_submitted':
      return applyReviewSubmitted(state, event)
    case 'review_refused':
      return chargeReviewer(state, event)
    default:
      return assertUnreachable(event)
  }
}

// Reviews of an earlier visit stay in the ledger but no longer count.
function applyReviewerAdded(state: TaskState, event: TaskEvent & { type: 'reviewer_added' }): TaskState {
  const { reviewer: name, grant, expiresAt, at } = event
  const current = new Map([...state.reviewers].filter(([, one]) => one.visit === state.visit))
  const before = current.get(name)
  const isStarted = isStartedBy(event.actor)
  const more = isStarted ? 1 : 0
  const reviewer: Reviewer = {
    name,
    phase: state.phase,
    visit: state.visit,
    grant,
    expiresAt,
    addedAt: at,
    status: 'open',
    denials: 0,
    reports: before?.reports ?? 0,
    report: before?.report ?? null,
    isStarted,
    starts: (before?.starts ?? 0) + more,
  }
  return { ...state, reviewers: current.set(name, reviewer), reviewStarts: state.reviewStarts + more }
}

function applyReviewSubmitted(state: TaskState, event: TaskEvent & { type: 'review_submitted' }): TaskState {
  const { status, sha256, bytes, comments, blockingIssues, subject, at } = event
  return updateReviewer(state, event.reviewer, (reviewer) => ({
    report: { status, sha256, bytes, comments, blockingIssues, subject, at, turnedBack: state.gates.blocked },
    reports: reviewer.reports + 1,
    status: isFinished(status) ? 'finished' : reviewer.status,
  }))
}

/** A reviewer's refusal counts against its own token and affects neither the agent's budget nor its lease. */
export function chargeReviewer(
  state: TaskState,
  event: { readonly reviewer?: string; readonly counted: boolean },
): TaskState {
  if (!event.counted) return state
  return updateReviewer(state, event.reviewer ?? '', (reviewer) => ({ denials: reviewer.denials + 1 }))
}

function updateReviewer(state: TaskState, name: string, change: (reviewer: Reviewer) => Partial<Reviewer>): TaskState {
  const reviewer = state.reviewers.get(name)
  if (reviewer === undefined) return state
  return { ...state, reviewers: new Map(state.reviewers).set(name, { ...reviewer, ...change(reviewer) }) }
}

export function addHolder(holders: readonly string[], agentId: string): readonly string[] {
  return holders.includes(agentId) || holders.length >= HOLDERS_MAX ? holders : [...holders, agentId]
}
