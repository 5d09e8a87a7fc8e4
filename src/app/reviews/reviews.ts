import { randomBytes } from 'node:crypto'
import type { ReviewBearer } from '../../core/identity/admit.js'
import type { Json, JsonObject } from '../../core/json.js'
import { judgeReport, listAskedReviews, listReviewers } from '../../core/reviews/review.js'
import type { ReviewStatus } from '../../core/task/fact-parts.js'
import type { Reviewer, TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import { applyTo, findTask } from '../find-task.js'
import { admitCall, applyAs, buildReviewerHelp } from '../identity/agent-call.js'
import type { Party } from '../identity/identity.js'
import { keepBody, keepUnder, type Once, type ReviewGrant } from '../kept-answer.js'
import { noTask, ok, type Result, refuse, toProblem } from '../result.js'
import { advance } from '../transitions/auto-advance.js'
import { toIsoTime, toIsoTimeOrNull } from '../wire.js'
import { type Remark, type Report, reportOf } from './review-report.js'
import { hashReviewSubject } from './review-subject.js'

// Grants are random and contain no dot. The suffix is signed with the token, so that every server knows whom the token
// is for.
const CONFINED = 'wall.'

/** Whether the token belongs to a sandboxed reviewer. Nobody else may use it. */
export function isConfinedReviewer({ grant }: Pick<ReviewBearer, 'grant'>): boolean {
  return grant.startsWith(CONFINED)
}

/** Adds a reviewer for the current visit of the task. The token is shown once and never stored. */
export async function addReviewer(
  app: App,
  request: {
    readonly taskId: string
    readonly name: string
    readonly expiresSeconds: number | undefined
    /** For a sandboxed reviewer: its token is only accepted through its own socket. */
    readonly isConfined?: boolean
  },
  by: { readonly actor: string; readonly once: Once | undefined },
): Promise<Result<JsonObject>> {
  const { taskId, name: reviewer } = request
  const task = await findTask(app, taskId)
  if (!task.ok) return task
  if (app.redact(reviewer) !== reviewer) return refuse('invalid_request', 'name: looks like a secret; choose another.')
  const { contract } = task.value
  const now = app.now()
  const expiresAt = now + (request.expiresSeconds ?? contract.enforcement.tokenExpirySeconds) * 1000
  const grant = `${request.isConfined === true ? CONFINED : ''}${randomBytes(12).toString('base64url')}`
  const { once } = by
  const grantIn = ({ phase, visit }: TaskState): ReviewGrant => ({
    ...{ reviewer, taskId, phase, visit, contract: contract.hash, grant, expiresAt },
  })
  const command = { type: 'add_reviewer', reviewer, grant, expiresAt } as const
  const handled = await applyTo(app, task.value, command, {
    actor: by.actor,
    remember: (done) =>
      done.refusal === null ? keepUnder(once, 201, () => ({ reviewer: grantIn(done.state) })) : undefined,
  })
  return handled.ok ? ok(buildReviewerAnswer(app, grantIn(handled.value.state))) : handled
}

/** The answer with a token; also sent again to a client that lost it. */
export function buildReviewerAnswer(app: App, grant: ReviewGrant): JsonObject {
  const { token, expiresAt } = app.tokens.reviewToken(grant, app.now())
  return { reviewer: grant.reviewer, review_token: token, expires_at: toIsoTime(expiresAt) }
}

/** Takes the report of a reviewer and binds it to the work as it is at this moment. */
export async function submitReview(
  app: App,
  bearer: ReviewBearer,
  given: {
    readonly taskId: string
    readonly report: JsonObject
    readonly seen: string | null
    readonly once: Once | undefined
  },
): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, bearer, given.taskId)
  if (!admitted.ok) return admitted
  const { state } = admitted.value
  const subject = await tryRead(() => hashReviewSubject(app, state))
  if (subject === null) return refuse('tool_failed', 'The work tree cannot be read; the report was not accepted.')
  const report = readReport(app, given.report)
  const blob = blobOf(report)
  const about = {
    status: report.status,
    sha256: blob.sha256,
    bytes: Buffer.byteLength(blob.content),
    comments: report.comments.length,
    blockingIssues: report.blocking_issues.length,
  }
  const { once } = given
  const answerOf = (done: TaskState): JsonObject => toSubmittedView(done, bearer.reviewer)
  const handled = await applyAs(
    app,
    admitted.value,
    { type: 'submit_review', reviewer: bearer.reviewer, report: about, subject, seen: given.seen },
    {
      blobs: [blob],
      remember: keepBody(once, 201, answerOf),
    },
  )
  if (!handled.ok) return handled
  const { refusal } = handled.value
  if (refusal !== null) return toProblem(refusal, buildReviewerHelp(state))
  // The last review may open a gate that advances automatically. The reviewer does not get the token of the new phase.
  await app.longGates.soon(advance(app, state.id))
  return ok(answerOf(handled.value.state))
}

function toSubmittedView(state: TaskState, name: string): JsonObject {
  const reviewer = state.reviewers.get(name)
  return {
    task_id: state.id,
    reviewer: name,
    status: reviewer?.report?.status ?? null,
    finished: reviewer?.status === 'finished',
    subject: reviewer?.report?.subject ?? null,
  }
}

// Remove control characters, because people read this, and secrets, which must not be stored.
const CONTROLS = /[^\P{Cc}\t\n\r]/gu

function readReport(app: App, given: JsonObject): Report {
  const plain = (text: Json | undefined): string =>
    app.redact(
      String(text ?? '')
        .toWellFormed()
        .replace(CONTROLS, '\uFFFD'),
    ) as string
  const remark = (one: Json): Remark => {
    const { text, path, line } = (typeof one === 'string' ? { text: one } : one) as JsonObject
    return {
      text: plain(text),
      ...(path === undefined ? {} : { path: plain(path) }),
      ...(typeof line === 'number' ? { line } : {}),
    }
  }
  const listed = (list: Json | undefined): readonly Json[] => (Array.isArray(list) ? list : [])
  return {
    status: given.status as ReviewStatus,
    ...(given.summary === undefined ? {} : { summary: plain(given.summary) }),
    comments: listed(given.comments).map((one) => ({
      ...remark(one),
      resolved: typeof one === 'object' && one !== null && (one as JsonObject).resolved === true,
    })),
    blocking_issues: listed(given.blocking_issues).map(remark),
  }
}

/** The reviewers of a task and their reports; an agent sees only those of its task. */
export async function listReviews(app: App, principal: Party, taskId: string): Promise<Result<JsonObject>> {
  if (principal.kind === 'agent') {
    const admitted = await admitCall(app, principal.bearer, taskId)
    if (!admitted.ok) return admitted
  }
  const state = await app.ledger.read(taskId)
  if (state === null) return noTask(taskId)
  const contract = await app.contracts.get(state.contract.hash)
  const phase = contract.phases.get(state.phase)
  const isOpen = state.status !== 'completed' && state.status !== 'cancelled'
  const subject = isOpen && state.reviewers.size > 0 ? await tryRead(() => hashReviewSubject(app, state)) : null
  const reviews: JsonObject[] = []
  for (const reviewer of state.reviewers.values()) {
    const report = reviewer.report === null ? null : await reportOf(app, reviewer.report.sha256)
    reviews.push({
      ...toReviewerView(app, state, reviewer, subject),
      ...(report === null ? {} : toReportTexts(report)),
    })
  }
  return ok({
    task_id: state.id,
    phase: state.phase,
    visit: state.visit,
    required_reviews: phase === undefined || !isOpen ? null : listAskedReviews(phase),
    reviews,
  })
}

function toReportTexts({ summary, comments, blocking_issues }: Report): JsonObject {
  return {
    ...(summary === undefined ? {} : { summary }),
    comments: comments.map((comment) => ({ ...comment })),
    blocking_issues: blocking_issues.map((issue) => ({ ...issue })),
  }
}

function toReviewerView(app: App, state: TaskState, reviewer: Reviewer, subject: string | null): JsonObject {
  const isPast = reviewer.visit !== state.visit
  const hasLapsed = reviewer.status === 'open' && reviewer.expiresAt <= app.now()
  return {
    reviewer: reviewer.name,
    phase: reviewer.phase,
    visit: reviewer.visit,
    token_status: isPast ? 'ended' : hasLapsed ? 'expired' : reviewer.status,
    status: reviewer.report?.status ?? null,
    counts_as: isPast || subject === null ? null : judgeReport(state, reviewer, subject),
    added_at: toIsoTime(reviewer.addedAt),
    expires_at: toIsoTime(reviewer.expiresAt),
    submitted_at: toIsoTimeOrNull(reviewer.report?.at ?? null),
  }
}

/** Statuses of this visit's reviews without their contents: reviewers judge independently. */
export function reviewStatuses(state: TaskState): readonly JsonObject[] {
  return listReviewers(state).map((reviewer) => ({ reviewer: reviewer.name, status: reviewer.report?.status ?? null }))
}

/** A tree can be unreadable while it is being changed: then there is no answer, and no fault. */
export async function tryRead<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch {
    return null
  }
}
