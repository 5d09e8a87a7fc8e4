import type { JudgedTest } from '../../core/evidence/inverted-run.js'
import type { ObservedRun, ObservedTest } from '../../core/evidence/observed-run.js'
import { isWithoutRules } from '../../inverter/libraries.js'
import type { FoundTest, Inversion, LeftReason, NotJudgedReason } from '../../inverter/types.js'
import { parseTestName } from '../red-green/baseline-tests.js'
import { TIMEOUT } from '../red-green/failure-reasons.js'
import { isTestIn } from '../red-green/red-files.js'
import { isAssertionFailure } from './failed-by-assertion.js'
import { findTest, isAmbiguous } from './find-test.js'
import { isExample, isOldTest, type Subject, type TurnedFile } from './subjects.js'

/** The two runs. If no file has twins, the plain run is used as the rewritten one. */
export interface TwinRuns {
  readonly unturned: ObservedRun
  readonly turned: ObservedRun
  /** Only the judged files were run. */
  readonly isNarrow: boolean
  /** The inverted run did not end in time, but the rewritten one did, or was not reached. */
  readonly isTurnedLate?: boolean
}

/** Whether an assertion that fails outside the test itself may have kept the test from ending. */
export function isWaiting({ reason }: JudgedTest, runs: TwinRuns | null): boolean {
  return runs?.isTurnedLate === true || reason === TIMED_OUT
}

/** Whether every test ran in both, so that the whole suite need not run. */
export function haveAll(subjects: readonly Subject[], { unturned, turned }: TwinRuns): boolean {
  const hasRun = (run: ObservedRun, statuses: readonly Result['status'][]): boolean =>
    explainUnusable(run) === null &&
    subjects.every(
      (subject) => isExample(subject.id, subject.file) || statuses.includes(findResult(subject, run, 1).status),
    )
  return hasRun(unturned, ['passed']) && hasRun(turned, ['passed', 'failed'])
}

/** Whether one of the tests failed, or its file did not load. */
export function haveFailed(subjects: readonly Subject[], run: ObservedRun): boolean {
  return subjects.some(
    (subject) => findResult(subject, run, 1).status === 'failed' || hasLoadFailure(run, subject.file.path),
  )
}

/** The line of the assertion that a test reported, by its id: see `namesLines` of the inverter. */
export function findHeldLines(subjects: readonly Subject[], run: ObservedRun): ReadonlyMap<string, number> {
  const named = subjects.map((subject) => [
    subject.id,
    /\bline (\d{1,9}) holds\b/.exec(findResult(subject, run, 1).message ?? '')?.[1],
  ])
  return new Map(named.flatMap(([id, line]) => (id === undefined || line === undefined ? [] : [[id, Number(line)]])))
}

/** The verdict of the twins on each test; null for the runs if nothing could be inverted. */
export function judgeTwins(
  subjects: readonly Subject[],
  runs: TwinRuns | null,
  plain: ObservedRun,
): readonly JudgedTest[] {
  return subjects.map((subject) => {
    const { id, file, found } = subject
    const said = runs === null || isExample(id, file) ? makeNotJudged(subject) : judge(subject, runs, plain)
    return {
      ...{ id, file: file.path, line: found?.line ?? null, ...said },
      ...(isOldTest(subject) ? { isOld: true as const } : {}),
      ...(said.verdict === 'not_judged' && isUnknown(file.inversion) ? { hasNoRules: true as const } : {}),
    }
  })
}

type TwinVerdict = Pick<JudgedTest, 'verdict' | 'reason' | 'failsRewritten'>

function judge(subject: Subject, { unturned, turned, isNarrow }: TwinRuns, plain: ObservedRun): TwinVerdict {
  const broken = explainUnusable(unturned) ?? explainUnusable(turned)
  if (broken !== null) return makeNoEvidence(`${broken}${COMPILED.test(subject.file.path) ? INCLUDED : ''}`)
  const before = findResult(subject, unturned, isNarrow ? 1 : sumCounts(plain))
  if (before.status !== 'passed') {
    const said = makeNoEvidence(`${COMPILED.test(subject.file.path) ? WITHOUT_FILE : WITH_TWIN} ${before.status}`)
    return before.status === 'missing' && isUncompiled(subject, unturned) ? said : { ...said, failsRewritten: true }
  }
  const after = findResult(subject, turned, sumCounts(unturned))
  if (after.status === 'missing') return makeNoEvidence('it did not run once its assertions were changed')
  if (after.status === 'failed' && subject.found?.isAboutExistence === true) return ABOUT_EXISTENCE
  if (after.status === 'failed')
    return isAssertionFailure(after.message, { expectsException: isExpectingException(subject) })
      ? { verdict: 'proved', reason: null }
      : makeNoEvidence(TIMEOUT.test(after.message ?? '') ? TIMED_OUT : OTHERWISE)
  if (after.status !== 'passed') return makeNoEvidence(`it was ${after.status} once its assertions were changed`)
  const { found, file } = subject
  if (!turned.isComplete && found !== null && isAmbiguous(found, file.inversion.tests)) return makeNoEvidence(UNNAMED)
  return isTurned(subject) ? { verdict: 'survived', reason: after.isListed ? null : UNLISTED } : makeNotJudged(subject)
}

// If a runner checks types file by file, a rewritten condition may not compile.
function isUncompiled({ file: { path } }: Subject, { loadFailures }: ObservedRun): boolean {
  return TYPED.test(path) && loadFailures.some(({ file, message }) => file === path && /\bTS\d{4,5}\b/.test(message))
}

const ABOUT_EXISTENCE: TwinVerdict = {
  ...{ verdict: 'not_judged', reason: 'it only asserts that something imported is there, not what it returns' },
}
const TYPED = /\.[cm]?tsx?$/
/** Their unturned text is the original; the compiled tests are run without it. */
export const COMPILED = /\.(?:go|rs)$/
const INCLUDED = '; code that includes a test file (include_str!, include_bytes!, //go:embed) is not run'
const UNLISTED = 'the command lists only failing tests, and it is not among them: let the command list every test'
const UNNAMED = 'its name is computed, and the run lists only failing tests: let the command list every test'
const TIMED_OUT = 'it timed out once its assertions were changed'
const OTHERWISE = 'once its assertions were changed, it failed for another reason than an assertion'
const WITH_TWIN = 'with its text rewritten, and what it expects unchanged, it'
const WITHOUT_FILE = 'with its test file taken away after it was compiled, it'

function makeNoEvidence(reason: string): TwinVerdict {
  return { verdict: 'no_evidence', reason }
}

function explainUnusable(run: ObservedRun): string | null {
  if (run.wasStopped) return 'the inverted run took too long'
  if (run.isVoid === true) return 'the inverted run wrote files that it is judged by'
  return isUnreadRun(run) ? 'the inverted run could not be read' : null
}

/** Whether the run ended, but its results are unknown. */
export function isUnreadRun({ wasStopped, isVoid, counts, problem }: ObservedRun): boolean {
  return !wasStopped && isVoid !== true && (counts === null || problem !== null)
}

interface Result {
  readonly status: ObservedTest['status'] | 'missing'
  readonly message: string | null
  /** Whether the run lists it. */
  readonly isListed: boolean
}

// For runners that list only failures, the counts decide: as many tests as before must have run.
function findResult({ id, file, found }: Subject, run: ObservedRun, atLeast: number): Result {
  const name = parseTestName(id)
  const own = run.tests.filter(
    (test) => isTestIn(test, file.path, file.text) || (test.file === null && parseTestName(test.id) === name),
  )
  const exact = own.find((test) => test.id === id) ?? own.find((test) => parseTestName(test.id) === name)
  const same = exact === undefined && found !== null ? own.filter((test) => isOf(test, found, file)) : []
  const result = exact ?? same.find(({ status }) => status === 'failed') ?? same[0]
  if (result !== undefined) return { status: result.status, message: result.message, isListed: true }
  const isUnlisted = !run.isComplete && sumCounts(run) >= atLeast && !hasLoadFailure(run, file.path)
  return { status: isUnlisted ? 'passed' : 'missing', message: null, isListed: false }
}

function isOf(test: ObservedTest, found: FoundTest, file: TurnedFile): boolean {
  return findTest(test.id, file.inversion.tests, file.path)?.name === found.name
}

function sumCounts({ counts }: ObservedRun): number {
  return counts === null ? 0 : counts.passed + counts.failed + counts.skipped
}

function hasLoadFailure({ loadFailures }: ObservedRun, path: string): boolean {
  return loadFailures.some(({ file }) => file === null || file === path)
}

// A test that cannot be found in its file may contain any of its assertions.
function isTurned({ found, file }: Subject): boolean {
  if (file.inversion.outcome !== 'rewritten') return false
  return found === null ? file.inversion.turnedAssertions.length > 0 : found.turned > 0 || found.helpers.length > 0
}

const EXCEPTIONS = /^(?:raises|warns|assertRaises\w*|assertWarns\w*)$/

function isExpectingException({ found, file }: Subject): boolean {
  return file.inversion.turnedAssertions.some(
    ({ test, assertion }) => (test === null || found === null || test === found.name) && EXCEPTIONS.test(assertion),
  )
}

function makeNotJudged({ id, file, found }: Subject): TwinVerdict {
  if (isExample(id, file)) return { verdict: 'not_judged', reason: EXAMPLE }
  const { inversion } = file
  const isOwn = (test: string | null): boolean => found !== null && test === found.name
  const left = inversion.leftAlone.find(({ test, reason }) => isOwn(test) && LEFT_TEXTS[reason] !== undefined)
  return {
    verdict: 'not_judged',
    reason: left === undefined ? explainNotJudged(inversion) : (LEFT_TEXTS[left.reason] ?? null),
  }
}

const EXAMPLE = 'it is an example in a comment, and these are not rewritten'
const LEFT_TEXTS: Readonly<Partial<Record<LeftReason, string>>> = {
  same_on_both_sides: 'it compares a value with itself: write down the value that is expected',
  joined_conditions:
    'it fails only when several conditions meet, which may never happen: assert each of them on its own',
  asserts_nothing: 'it asserts nothing about the code under test',
}

function isUnknown({ libraries, ...inversion }: Inversion): boolean {
  const isUnknownLanguage = inversion.outcome === 'not_judged' && inversion.reason === 'unknown_language'
  return isUnknownLanguage || libraries.some(isWithoutRules)
}

function explainNotJudged({ libraries, ...inversion }: Inversion): string {
  const unknown = libraries.filter(isWithoutRules)
  if (unknown.length > 0) return `there are no rules for assertions of ${unknown.join(', ')}`
  const reason = inversion.outcome === 'not_judged' ? inversion.reason : 'no_known_assertion'
  const used = libraries.length === 0 ? '' : ` (the file uses ${libraries.join(', ')})`
  return reason === 'no_known_assertion' ? `it has no assertion that is known${used}` : REASONS[reason]
}

const REASONS: Readonly<Record<Exclude<NotJudgedReason, 'no_known_assertion'>, string>> = {
  unknown_language: 'there are no rules for its language',
  too_large: 'its file has more than 1,000,000 characters: split it',
  too_deep:
    'its file is nested deeper than 400 levels, or has more than 600,000 parts: split it, or move data into a file that it reads',
  took_too_long: 'its file took longer than 10 seconds to rewrite, or has more than 20,000 assertions: split it',
  not_parsed: 'its file could not be parsed',
  rewrite_not_parsed: 'its file could not be rewritten',
}
