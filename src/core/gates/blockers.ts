import type { Code } from '../codes.js'
import { CHECK_ARTIFACTS } from '../contract/check-artifacts.js'
import type { Blocker, Mode, RequiredArtifact } from '../contract/contract.js'
import { isObserved } from '../evidence/inverted-run.js'
import { dependsOnReviews } from '../reviews/consensus-plan.js'
import { formatReviewsKey, REVIEW_ARTIFACTS } from '../reviews/review.js'
import { type ArtifactOffered, type CheckOutcome, checkKey, type GateFacts } from '../task/command.js'
import type { BlockerFound } from '../task/fact-parts.js'
import { getRemedy } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { CHECK_REMEDIES, POSTPONED_REMEDY, toWarningRemedy } from './check-remedies.js'
import type { Needs } from './needs.js'

const PROBLEMS_PER_ARTIFACT_MAX = 20
/** The artifact that Phaselock produces if the contract says how tests are run; its checks report problems with it. */
export const OBSERVED_ARTIFACT = 'test_run_result'

interface Findings {
  readonly blockers: readonly BlockerFound[]
  readonly warnings: readonly BlockerFound[]
  /** Blockers that a mode other than strict ignored. */
  readonly violations: readonly BlockerFound[]
}

/** All blockers of the gates at once, except approvals. */
export function findBlockers(
  state: TaskState,
  needed: Needs,
  given: {
    readonly facts: GateFacts
    readonly claims: readonly string[]
    readonly mode: Mode
    /** Reviewers are still voting, so artifacts derived from reviews cannot exist yet. */
    readonly isVoting?: boolean
    /** Blockers found by other stages. */
    readonly more?: readonly BlockerFound[]
  },
): Findings {
  const { facts } = given
  const awaitsReviews = given.isVoting === true && needed.isReviewedByVote
  const found: BlockerFound[] = []
  if (facts.visit !== state.visit)
    found.push(
      makeBlocker('evidence_stale', { message: 'The evidence was collected in an earlier visit to this phase' }),
    )
  if (needed.reviews !== null && facts.reviewsKey !== formatReviewsKey(state))
    found.push(makeBlocker('evidence_stale', { message: 'The reviews changed while the gates were checked' }))
  for (const problem of facts.problems) found.push(makeBlocker('check_error', { message: problem }))
  found.push(...(given.more ?? []))
  found.push(...findMissingStatement(needed, given.claims))
  for (const required of needed.artifacts) {
    if (needed.observesTests && required.type === OBSERVED_ARTIFACT) continue
    const isAssembled = needed.reviews !== null && REVIEW_ARTIFACTS.includes(required.type)
    if (isAssembled && awaitsReviews) continue
    found.push(
      ...(isAssembled ? reviewBlockers(needed, required, facts) : findArtifactBlockers(state, required, facts)),
    )
  }
  for (const problem of [...facts.evidenceProblems, ...(facts.evidenceOpen ?? [])])
    found.push(makeBlocker('incomplete_checkpoint', { message: problem }))
  found.push(...checkBlockers(needed, facts, { awaitsReviews, malformed: listMalformed(facts, found) }))
  found.push(...warnOfUnaskedArtifacts(needed, facts))

  const warnings = found.filter((blocker) => blocker.severity !== 'blocking')
  const blocking = found.filter((blocker) => blocker.severity === 'blocking')
  if (given.mode === 'strict') return { blockers: blocking, warnings, violations: [] }
  const blockers = blocking.filter((blocker) => HELD_IN_EVERY_MODE.has(blocker.code))
  const violations = blocking.filter((blocker) => !HELD_IN_EVERY_MODE.has(blocker.code))
  return {
    blockers,
    warnings: [...warnings, ...violations.map(toWarning)],
    violations,
  }
}

function toWarning(violation: BlockerFound): BlockerFound {
  return { ...violation, severity: 'warning', remedy: toWarningRemedy(violation.remedy) }
}

// Permissive and advisory modes ignore gates, but not artifact schemas or the facts of a visit.
const HELD_IN_EVERY_MODE: ReadonlySet<Code> = new Set<Code>(['invalid_artifact', 'evidence_stale'])

function findMissingStatement(needed: Needs, claims: readonly string[]): readonly BlockerFound[] {
  const when = needed.demand.transition?.when ?? null
  if (when === null || claims.includes(when)) return []
  return [
    makeBlocker('claim_missing', {
      message: `The transition needs the claim ${JSON.stringify(when)}`,
      remedy: `Send "claims": {"${when}": true}.`,
    }),
  ]
}

function findArtifactBlockers(state: TaskState, required: RequiredArtifact, facts: GateFacts): readonly BlockerFound[] {
  const offered = facts.artifacts.find((artifact) => artifact.type === required.type)
  if (offered !== undefined && offered.problems.length > 0)
    return offered.problems.slice(0, PROBLEMS_PER_ARTIFACT_MAX).map((problem) =>
      makeBlocker('invalid_artifact', {
        artifact: required.type,
        message: `${required.type}${problem.pointer} ${problem.message}`,
        remedy: describeCorrection(required.type, problem),
      }),
    )
  const kept = state.artifacts.get(required.type)
  if (offered !== undefined || (kept !== undefined && kept.visit === state.visit && kept.phase === state.phase))
    return []
  const what = required.description === '' ? '' : ` (${required.description})`
  return [
    makeBlocker('missing_artifact', {
      artifact: required.type,
      message: `Missing ${required.type}${what}`,
      remedy: `Send "artifacts": {"${required.type}": {…}} with the transition request.`,
    }),
  ]
}

function describeCorrection(type: string, { pointer, shape }: ArtifactOffered['problems'][number]): string {
  if (shape !== undefined) return `Send ${shape} with the transition request: ${type} is an object with these keys.`
  return `Correct ${type} at ${pointer === '' ? 'its top level' : pointer} and send it again.`
}

// Reviews assembled for an earlier request do not count: reports may be replaced and reviewers revoked.
function reviewBlockers(needed: Needs, required: RequiredArtifact, facts: GateFacts): readonly BlockerFound[] {
  const remedy = `Wait for the reviewers. Phaselock makes ${required.type} from their reports; what you send as ${required.type} does not count.`
  const assembled = facts.artifacts.find((artifact) => artifact.type === required.type && isObserved(artifact.grade))
  if (assembled === undefined)
    return [
      makeBlocker('missing_artifact', {
        artifact: required.type,
        message: `Missing ${required.type}: no reviewer has reported (asked for: ${(needed.reviews ?? []).join(', ')})`,
        remedy,
      }),
    ]
  return assembled.problems.slice(0, PROBLEMS_PER_ARTIFACT_MAX).map(({ pointer, message }) =>
    makeBlocker('invalid_artifact', {
      artifact: required.type,
      message: `${required.type}${pointer} ${message}`,
      remedy,
    }),
  )
}

function checkBlockers(
  needed: Needs,
  facts: GateFacts,
  { awaitsReviews, malformed }: { readonly awaitsReviews: boolean; readonly malformed: readonly string[] },
): readonly BlockerFound[] {
  const found: BlockerFound[] = []
  const postponed: BlockerFound[] = []
  const judge = (place: { gate: string | null; artifact: string | null; index: number }, asked: Blocker) => {
    if (awaitsReviews && dependsOnReviews(asked, place.artifact)) return
    const outcome = facts.checks.get(checkKey({ ...place, check: asked.check }))
    if (followsFrom(malformed, asked, outcome)) return
    const problem = checkBlocker(asked, outcome)
    const list = isPostponed(outcome) ? postponed : found
    if (problem !== null) list.push({ ...problem, gate: place.gate, artifact: place.artifact })
    found.push(...listNotes(asked, outcome).map((note) => ({ ...note, gate: place.gate, artifact: place.artifact })))
  }
  for (const required of needed.artifacts)
    for (const [index, asked] of required.checks.entries()) judge({ gate: null, artifact: required.type, index }, asked)
  for (const gate of needed.demand.gates)
    for (const [index, asked] of gate.blockers.entries()) judge({ gate: gate.id, artifact: null, index }, asked)
  for (const [index, asked] of needed.phaseChecks.entries()) judge({ gate: null, artifact: null, index }, asked)
  return [...found, ...postponed]
}

// An artifact that is no object as a whole closes the gate in every mode. What its checks miss in it says nothing more.
function listMalformed(facts: GateFacts, found: readonly BlockerFound[]): readonly string[] {
  const closed = found.filter(({ code, severity }) => code === 'invalid_artifact' && severity === 'blocking')
  return facts.artifacts
    .filter(({ problems }) => problems.some(({ shape }) => shape !== undefined))
    .filter(({ type }) => closed.some(({ artifact }) => artifact === type))
    .map(({ type }) => type)
}

function followsFrom(malformed: readonly string[], { check }: Blocker, outcome: CheckOutcome | undefined): boolean {
  if (malformed.length === 0) return false
  const reads = CHECK_ARTIFACTS.get(check) ?? []
  return isPostponed(outcome) || malformed.some((type) => reads.includes(type))
}

function isPostponed(outcome: CheckOutcome | undefined): boolean {
  return outcome?.result === 'fails' && outcome.isPostponed === true
}

function listNotes({ check }: Blocker, outcome: CheckOutcome | undefined): readonly BlockerFound[] {
  if (outcome?.result !== 'holds') return []
  const about = {
    check,
    severity: 'warning',
    grade: outcome.grade,
    remedy: 'Look at it; nothing has to be done.',
  } as const
  return (outcome.notes ?? []).map((message) => makeBlocker('check_failed', { ...about, message }))
}

// A check that did not run blocks: missing evidence never counts as passed.
function checkBlocker(asked: Blocker, outcome: CheckOutcome | undefined): BlockerFound | null {
  const { check, severity } = asked
  const words = asked.message === '' ? check : asked.message
  if (outcome === undefined)
    return makeBlocker('check_error', { check, severity, message: `${words}: the check was not run` })
  if (outcome.result === 'holds') return null
  const code = outcome.result === 'fails' ? 'check_failed' : 'check_error'
  const message = `${words}: ${outcome.found}`
  const { run, remedy } = outcome.result === 'fails' ? outcome : {}
  const about = { check, severity, message, grade: outcome.grade }
  if (isPostponed(outcome)) return makeBlocker(code, { ...about, remedy: POSTPONED_REMEDY })
  if (run !== undefined) return makeBlocker(code, { ...about, remedy: String(run.remedy), run })
  if (code !== 'check_failed') return makeBlocker(code, about)
  const advice = remedy ?? CHECK_REMEDIES[check]
  return makeBlocker(code, { ...about, remedy: severity === 'blocking' ? advice : toWarningRemedy(advice) })
}

// An artifact that the phase does not ask for could replace one that an earlier gate judged: it is reported and not
// stored.
function warnOfUnaskedArtifacts(needed: Needs, facts: GateFacts): readonly BlockerFound[] {
  return facts.artifacts
    .filter((artifact) => !needed.artifacts.some((required) => required.type === artifact.type))
    .map((artifact) =>
      makeBlocker('invalid_artifact', {
        artifact: artifact.type,
        severity: 'warning',
        message: `This phase does not ask for ${artifact.type}; it was not kept`,
        remedy: 'Leave it out.',
      }),
    )
}

export function makeBlocker(code: Code, about: Partial<BlockerFound> & { readonly message: string }): BlockerFound {
  return {
    code,
    gate: null,
    check: null,
    artifact: null,
    remedy: getRemedy(code),
    severity: 'blocking',
    grade: null,
    ...about,
  }
}
