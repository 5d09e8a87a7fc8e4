import type { ReviewSeen } from '../../checks/check-inputs.js'
import type { Contract } from '../../core/contract/contract.js'
import type { CoordinationRun } from '../../core/councils/council.js'
import type { Needs } from '../../core/gates/needs.js'
import type { Json, JsonObject } from '../../core/json.js'
import { judgeReport, listReviewers, REVIEW_ARTIFACTS } from '../../core/reviews/review.js'
import type { ArtifactOffered } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import { listReviewsOfVote, type VoterReview } from '../councils/consensus-reviews.js'
import { reportOf } from './review-report.js'
import { hashReviewSubject } from './review-subject.js'

interface Contents {
  readonly ofVisit: ReadonlyMap<string, Json>
  readonly all: ReadonlyMap<string, Json>
}

interface Reviewed {
  readonly contents: Contents
  readonly offered: readonly ArtifactOffered[]
  /** What an approval of this request is bound to. */
  readonly bound: readonly ArtifactOffered[]
  readonly blobs: readonly Blob[]
  /** Null if the phase asks for no reviews. */
  readonly seen: readonly ReviewSeen[] | null
}

interface ReviewInputs {
  readonly needed: Needs
  readonly offered: readonly ArtifactOffered[]
  readonly contents: Contents
  /** The vote on the current work; null: none. */
  readonly vote: CoordinationRun | null
  /** Runs work that may fail; a failure closes the gate. */
  readonly attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | null>
}

/** Replaces the agent's own statements by what reviewers reported, if the phase asks for reviews. */
export async function gatherReviews(
  app: App,
  contract: Contract,
  state: TaskState,
  work: ReviewInputs,
): Promise<Reviewed> {
  const { needed, offered, contents } = work
  if (needed.reviews === null) return { contents, offered, bound: offered, blobs: [], seen: null }
  const isFitting = (one: ArtifactOffered): boolean => needed.artifacts.some(({ type }) => type === one.type)
  const assembled = await work.attempt('The reviews cannot be read', async () =>
    addVoterReviews(
      await assemble(app, state, await hashReviewSubject(app, state, offered.filter(isFitting))),
      listReviewsOfVote(work.vote),
    ),
  )
  if (assembled === null || assembled.seen.length === 0)
    return { contents: addReport(contents, null), offered, bound: offered, blobs: [], seen: [] }
  const { seen } = assembled
  const wanted = needed.artifacts.filter(({ type }) => REVIEW_ARTIFACTS.includes(type))
  const schema = wanted.find((artifact) => artifact.schema !== null)?.schema ?? null
  const validate = schema === null ? () => [] : await app.contracts.getValidator(contract.hash, schema)
  const report = validate(assembled.plain).length === 0 ? assembled.plain : assembled.whole
  const blob = blobOf(report)
  const bytes = Buffer.byteLength(blob.content)
  const one = { sha256: blob.sha256, bytes, grade: 'observed', problems: validate(report) } as const
  return {
    contents: addReport(contents, report),
    offered: [...offered, ...wanted.map(({ type }) => ({ type, ...one }))],
    bound: [...offered, ...REVIEW_ARTIFACTS.map((type) => ({ type, ...one }))],
    blobs: [blob],
    seen,
  }
}

interface AssembledReviews {
  readonly seen: readonly ReviewSeen[]
  /** `{reviews, blocking_issues}`. */
  readonly plain: JsonObject
  /** The same with `consolidated_issues`, which schemas in the form of PRD-007 require. */
  readonly whole: JsonObject
}

// Sorted by name and without times, so that the same reports give the same artifact.
async function assemble(app: App, state: TaskState, subject: string): Promise<AssembledReviews> {
  const reviews: Record<string, Json> = {}
  const seen: ReviewSeen[] = []
  const blocking_issues: JsonObject[] = []
  const issues: JsonObject[] = []
  for (const reviewer of listReviewers(state).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const status = judgeReport(state, reviewer, subject)
    if (status === null || reviewer.report === null) continue
    const { name } = reviewer
    const { summary, comments, blocking_issues: blocking } = await reportOf(app, reviewer.report.sha256)
    seen.push({ name, status })
    reviews[name] = { status, reviewer: name, ...(summary === undefined ? {} : { summary }), comments }
    blocking_issues.push(...blocking.map((remark) => ({ reviewer: name, ...remark })))
    issues.push(...blocking.map((remark) => ({ reviewer: name, ...remark, blocking: true })))
    issues.push(...comments.map((comment) => ({ reviewer: name, ...comment, blocking: false })))
  }
  return { seen, plain: { reviews, blocking_issues }, whole: { reviews, blocking_issues, consolidated_issues: issues } }
}

// A reviewer that also voted keeps its report.
function addVoterReviews(reported: AssembledReviews, voted: readonly VoterReview[]): AssembledReviews {
  const more = voted.filter(({ name }) => reported.seen.every((review) => review.name !== name))
  const blocking = more
    .filter((review) => review.isBlocking)
    .map(({ name, summary }) => ({ reviewer: name, text: summary }))
  const reviews = Object.fromEntries(
    more.map(({ name, status, summary }) => [name, { status, reviewer: name, summary, comments: [] }]),
  )
  const { plain, whole } = reported
  const both = (object: JsonObject): JsonObject => ({
    ...object,
    reviews: { ...(object.reviews as JsonObject), ...reviews },
    blocking_issues: [...(object.blocking_issues as readonly Json[]), ...blocking],
  })
  const issues = [
    ...(whole.consolidated_issues as readonly Json[]),
    ...blocking.map((one) => ({ ...one, blocking: true })),
  ]
  return {
    seen: [...reported.seen, ...more.map(({ name, status }) => ({ name, status }))],
    plain: both(plain),
    whole: { ...both(whole), consolidated_issues: issues },
  }
}

function addReport(contents: Contents, report: Json | null): Contents {
  const replaced = (all: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> => {
    const others = [...all].filter(([type]) => !REVIEW_ARTIFACTS.includes(type))
    return new Map(report === null ? others : [...others, ...REVIEW_ARTIFACTS.map((type) => [type, report] as const)])
  }
  return { all: replaced(contents.all), ofVisit: replaced(contents.ofVisit) }
}
