import type { CheckName, Contract, Phase } from '../contract/contract.js'
import type { Command, Context } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import type { BlockerFound, ReviewStatus, Violation } from '../task/fact-parts.js'
import { type Decision, makeDecision, type RefusedFact, refuseUnrecorded } from '../task/refusal.js'
import type { Reviewer, TaskState } from '../task/state.js'

/** The artifacts that Phaselock assembles from reviewers' reports, if a phase asks for them. */
export const REVIEW_ARTIFACTS: readonly string[] = ['review_report', 'review_results']
/** Valid names of reviews and reviewers. A leading `_` is not allowed, which excludes `__proto__`. */
export const REVIEWER_NAME = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$'
const REPORT_BYTES_MAX = 256 * 1024
/** How often one reviewer may report in one visit, because every report is stored. */
const REPORTS_MAX = 100
/** Maximum number of reviewers per visit if the contract names no reviews. */
const REVIEWERS_MAX = 50
/**
 * How often Phaselock starts one reviewer in one visit, and all reviewers of one task: starts cost the agent nothing.
 */
const REVIEW_STARTS_MAX = 20
const REVIEW_STARTS_TASK_MAX = 200
/** Maximum number of remembered holders of a task. Beyond it, Phaselock cannot tell whether an agent ever held it. */
export const HOLDERS_MAX = 1000

/** In `approvers` these mean operators and Phaselock itself. */
const NO_REVIEWERS: ReadonlySet<string> = new Set(['human', 'orchestrator'])

export const REVIEW_CHECKS: ReadonlySet<string> = new Set<CheckName>([
  ...(['all_review_models_completed', 'no_blocking_issues', 'review_comments_addressed'] as const),
])

/** Required reviews by name; null: none, and the agent's own review counts. */
export function listAskedReviews(phase: Phase): readonly string[] | null {
  const checks = [
    ...phase.requiredArtifacts.flatMap((artifact) => artifact.checks),
    ...phase.gates.flatMap((gate) => gate.blockers),
  ].filter((blocker) => blocker.check === 'all_review_models_completed')
  const slots = (phase.slots ?? []).map((slot) => slot.name)
  if (checks.length === 0 && slots.length === 0) return null
  const named = checks.flatMap(({ params }) =>
    Array.isArray(params.required_reviews) ? params.required_reviews.map(String) : [],
  )
  return [...new Set([...named, ...slots])]
}

/** True when `approvers` names this reviewer by its own name, never by a reserved word. */
export function isReviewerApprover(approvers: readonly string[], name: string): boolean {
  return !NO_REVIEWERS.has(name) && approvers.includes(name)
}

export function isFinished(status: ReviewStatus): boolean {
  return status === 'completed' || status === 'approved'
}

/** The reviewers of this visit. */
export function listReviewers(state: TaskState): readonly Reviewer[] {
  return [...state.reviewers.values()].filter((reviewer) => reviewer.visit === state.visit)
}

/** The effective status of a report: its own, unless the reviewed work has changed or its author works on the task. */
export function judgeReport(
  state: TaskState,
  reviewer: Reviewer,
  subject: string | null,
): ReviewStatus | 'outdated' | 'by_implementer' | null {
  if (reviewer.report === null) return null
  if (state.holders.includes(reviewer.name)) return 'by_implementer'
  return reviewer.report.subject === subject ? reviewer.report.status : 'outdated'
}

/** Changes with every report of this visit: facts gathered under another key are outdated. */
export function formatReviewsKey(state: TaskState): string {
  return JSON.stringify(
    listReviewers(state).map(({ name, report }) => [name, report?.sha256 ?? null, report?.at ?? null]),
  )
}

/** Admits a reviewer for this visit, or gives a known one another token, which revokes the older one. */
export function addReviewer(
  contract: Contract,
  state: TaskState,
  command: Command & { type: 'add_reviewer' },
  { actor }: Context,
): Decision {
  const { reviewer: name, grant, expiresAt } = command
  if (state.status === 'completed' || state.status === 'cancelled')
    return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  const phase = contract.phases.get(state.phase)
  if (state.visit === 0 || phase === undefined)
    return refuseUnrecorded('conflict', `Task ${state.id} was not claimed yet: there is nothing to review.`)
  if (NO_REVIEWERS.has(name))
    return refuseUnrecorded('invalid_request', `name: ${JSON.stringify(name)} is reserved; choose another.`)
  const asked = listAskedReviews(phase)
  const approves = phase.gates.some((gate) => isReviewerApprover(gate.approvers, name))
  if (asked !== null && !asked.includes(name) && !approves)
    return refuseUnrecorded(
      'invalid_request',
      `name: ${JSON.stringify(name)} is not one of the reviews that ${state.phase} asks for (${asked.join(', ')}).`,
    )
  if (state.holders.includes(name) || state.reservedFor === name)
    return refuseUnrecorded('not_permitted', `Agent ${name} works or worked on task ${state.id}, and cannot review it.`)
  if (state.holders.length >= HOLDERS_MAX)
    return refuseUnrecorded(
      'conflict',
      `More than ${HOLDERS_MAX} agents have held task ${state.id}, so Phaselock does not know every one of them.`,
    )
  const others = listReviewers(state).filter((reviewer) => reviewer.name !== name)
  if (asked === null && others.length >= REVIEWERS_MAX)
    return refuseUnrecorded(
      'conflict',
      `Task ${state.id} has ${others.length} reviewers in this visit, and no more may be added.`,
    )
  const often = isStartedBy(actor) ? findStartLimit(state, name) : null
  if (often !== null) return refuseUnrecorded('conflict', often)
  return makeDecision([{ type: 'reviewer_added', reviewer: name, grant, expiresAt }])
}

/** True when Phaselock starts the reviewer and no operator admitted it. */
export function isStartedBy(actor: string): boolean {
  return actor === 'system'
}

function findStartLimit(state: TaskState, name: string): string | null {
  const starts = listReviewers(state).find((reviewer) => reviewer.name === name)?.starts ?? 0
  if (starts >= REVIEW_STARTS_MAX)
    return `Reviewer ${name} was started ${starts} times in this visit: an operator must add the next one.`
  if (state.reviewStarts >= REVIEW_STARTS_TASK_MAX)
    return `Reviewers were started ${state.reviewStarts} times for task ${state.id}: an operator must add the next one.`
  return null
}

/** Revokes a reviewer's token. Its reports of this visit no longer count. */
export function revokeReviewer(state: TaskState, command: Command & { type: 'revoke_reviewer' }): Decision {
  const known = listReviewers(state).find((one) => one.name === command.reviewer)
  if (known === undefined || known.status === 'revoked')
    return refuseUnrecorded(
      'not_found',
      `Task ${state.id} has no reviewer ${JSON.stringify(command.reviewer)} in this visit.`,
    )
  return makeDecision(revokeFacts(state, command.reviewer, command.reason))
}

// Its approvals are removed too, because the revocation withdraws trust in it.
function revokeFacts(state: TaskState, reviewer: string, reason: string): readonly TaskFact[] {
  const given = [...state.approvals.values()].filter(
    ({ visit, status, decisions }) =>
      visit === state.visit &&
      (status === 'pending' || status === 'approved') &&
      decisions.some((decision) => decision.by === formatApproverName(reviewer)),
  )
  const why = `reviewer ${reviewer} was revoked`
  return [
    { type: 'reviewer_revoked', reviewer, reason },
    ...given.map(({ id }): TaskFact => ({ type: 'approval_voided', approvalId: id, reason: why })),
  ]
}

/** How a decision names a reviewer: never like an operator of the same name. */
export function formatApproverName(reviewer: string): string {
  return `reviewer:${reviewer}`
}

/** Takes a report, which replaces the previous one. */
export function submitReview(
  contract: Contract,
  state: TaskState,
  command: Command & { type: 'submit_review' },
): Decision {
  const { reviewer, report, subject, seen } = command
  const problem = findProblem(state, command)
  if (problem === null && (seen === null || seen === subject))
    return makeDecision([{ type: 'review_submitted', reviewer, ...report, subject }])
  const said = problem ?? { code: 'conflict', detail: 'The work has changed since you reviewed it: look at it again' }
  return refuseReviewer(contract, state, {
    type: 'review_refused',
    reviewer,
    ...numberReviewerRefusal(contract, state, reviewer, said),
  })
}

function findProblem(state: TaskState, { reviewer, report }: Command & { type: 'submit_review' }): Violation | null {
  if (report.bytes > REPORT_BYTES_MAX)
    return { code: 'payload_too_large', detail: `The report is larger than ${REPORT_BYTES_MAX} bytes of JSON` }
  if (report.status === 'approved' && report.blockingIssues > 0)
    return { code: 'invalid_request', detail: 'report.status: a review with blocking issues cannot approve' }
  if ((state.reviewers.get(reviewer)?.reports ?? 0) >= REPORTS_MAX)
    return { code: 'conflict', detail: `Reviewer ${reviewer} has sent ${REPORTS_MAX} reports in this visit` }
  return null
}

/** Numbers a refusal within the budget of the reviewer's token. The agent's budget is not affected. */
export function numberReviewerRefusal(
  contract: Contract,
  state: TaskState,
  reviewer: string,
  said: Violation,
): RefusedFact {
  const max = contract.enforcement.denialBudget
  const attempt = Math.min((state.reviewers.get(reviewer)?.denials ?? 0) + 1, max)
  return {
    code: said.code,
    detail: said.detail,
    success: false,
    retry: { attempt, max, text: `Retry (${attempt}/${max}): ${said.detail}` },
    counted: said.code !== 'conflict',
  }
}

/** The refusal; the one that uses up the budget revokes the token, and its reports no longer count. */
export function refuseReviewer(
  contract: Contract,
  state: TaskState,
  fact: TaskFact & RefusedFact & { readonly reviewer: string },
): Decision {
  const { code, detail, retry, reviewer } = fact
  const spent = (state.reviewers.get(reviewer)?.denials ?? 0) + (fact.counted ? 1 : 0)
  const isOver = fact.counted && spent >= contract.enforcement.denialBudget
  const reason = `${spent} refusals; the last: ${detail}`
  return makeDecision(isOver ? [fact, ...revokeFacts(state, reviewer, reason)] : [fact], { code, detail, retry })
}

/** True when only missing reviews keep the gate closed: then nothing counts against the agent. */
export function isWaitingForReviews(state: TaskState, blockers: readonly BlockerFound[]): boolean {
  const isOfReviews = ({ check, artifact }: BlockerFound): boolean =>
    (check !== null && REVIEW_CHECKS.has(check)) || (artifact !== null && REVIEW_ARTIFACTS.includes(artifact))
  const isAskedFor = blockers.some((blocker) => blocker.check === 'all_review_models_completed')
  const hasObjection = listReviewers(state).some(
    ({ report }) => report !== null && (report.status === 'changes_requested' || report.blockingIssues > 0),
  )
  return isAskedFor && !hasObjection && blockers.every(isOfReviews)
}
