import type { JudgedTest } from '../../core/evidence/inverted-run.js'
import type { ObservedRun, ObservedTest } from '../../core/evidence/observed-run.js'
import { isWithoutRules } from '../../inverter/libraries.js'
import type { FoundTest, Inversion, NotJudgedReason } from '../../inverter/types.js'
import { parseTestName } from '../red-green/baseline-tests.js'
import { isTestIn } from '../red-green/red-files.js'
import { isAssertionFailure } from './failed-by-assertion.js'
import { findTest, isAmbiguous } from './find-test.js'

/** A test file, and what became of it when it was turned around. */
export interface TurnedFile {
  readonly path: string
  readonly text: string
  readonly inversion: Inversion
  /** Names of tests that were there before the task and whose text is the same. */
  readonly old: ReadonlySet<string>
}

/** The two runs. Where no file has twins, the plain run stands for the unturned one. */
export interface TwinRuns {
  readonly unturned: ObservedRun
  readonly turned: ObservedRun
  /** Only the files that are judged were run. */
  readonly isNarrow: boolean
}

/** Whether every test ran in both, so that there is no need to run the whole suite. */
export function haveAll(subjects: readonly Subject[], { unturned, turned }: TwinRuns): boolean {
  const hasRun = (run: ObservedRun, statuses: readonly Result['status'][]): boolean =>
    explainUnusable(run) === null && subjects.every((subject) => statuses.includes(findResult(subject, run, 1).status))
  return hasRun(unturned, ['passed']) && hasRun(turned, ['passed', 'failed'])
}

/** Whether one of the tests failed, or its file did not load. */
export function haveFailed(subjects: readonly Subject[], run: ObservedRun): boolean {
  return subjects.some(
    (subject) => findResult(subject, run, 1).status === 'failed' || hasLoadFailure(run, subject.file.path),
  )
}

/** A test that is to be judged. */
export interface Subject {
  readonly id: string
  readonly file: TurnedFile
  readonly found: FoundTest | null
}

/** The tests of these files that passed in the plain run. Where it lists none that pass, those that the files define. */
export function listSubjects(
  plain: ObservedRun,
  files: readonly TurnedFile[],
  /** Test files that are as they were before the task. */
  others: readonly Pick<TurnedFile, 'path' | 'text'>[] = [],
): readonly Subject[] {
  const passed = plain.tests.filter(({ status }) => status === 'passed')
  const listed = passed.filter((test) => !isOfOthers(test, passed, others))
  return files.flatMap((file) => {
    const { tests } = file.inversion
    const its = listed.filter((test) => isTestIn(test, file.path, file.text))
    if (its.length > 0 || plain.isComplete)
      return its.map(({ id }) => ({ id, file, found: findTest(id, tests, file.path) }))
    return tests.map((found) => ({ id: found.name, file, found }))
  })
}

// Where the runner does not say the file, a test that an unchanged file has too is taken for that one.
function isOfOthers(
  test: ObservedTest,
  passed: readonly ObservedTest[],
  others: readonly Pick<TurnedFile, 'path' | 'text'>[],
): boolean {
  if (test.file !== null) return false
  const name = parseTestName(test.id)
  const holders = others.filter(({ path, text }) => isTestIn(test, path, text))
  return holders.length > 0 && passed.filter(({ id }) => parseTestName(id) === name).length <= holders.length
}

/** What the twins show of each test; null for the runs where nothing could be turned around. */
export function judgeTwins(
  subjects: readonly Subject[],
  runs: TwinRuns | null,
  plain: ObservedRun,
): readonly JudgedTest[] {
  return subjects.map((subject) => {
    const { id, file, found } = subject
    const said = runs === null ? makeNotJudged(subject) : judge(subject, runs, plain)
    return {
      ...{ id, file: file.path, line: found?.line ?? null, ...said },
      ...(found !== null && file.old.has(found.name) ? { isOld: true as const } : {}),
      ...(said.verdict === 'not_judged' && isUnknown(file.inversion) ? { hasNoRules: true as const } : {}),
    }
  })
}

type TwinVerdict = Pick<JudgedTest, 'verdict' | 'reason' | 'failsRewritten'>

function judge(subject: Subject, { unturned, turned, isNarrow }: TwinRuns, plain: ObservedRun): TwinVerdict {
  const broken = explainUnusable(unturned) ?? explainUnusable(turned)
  if (broken !== null) return makeNoEvidence(broken)
  const before = findResult(subject, unturned, isNarrow ? 1 : sumCounts(plain))
  if (before.status !== 'passed') {
    const said = makeNoEvidence(`${WITH_TWIN} ${before.status}`)
    return before.status === 'missing' && isUncompiled(subject, unturned) ? said : { ...said, failsRewritten: true }
  }
  const after = findResult(subject, turned, sumCounts(unturned))
  if (after.status === 'missing') return makeNoEvidence('it did not run once its assertions were changed')
  if (after.status === 'failed')
    return isAssertionFailure(after.message, { expectsException: isExpectingException(subject) })
      ? { verdict: 'proved', reason: null }
      : makeNoEvidence('once its assertions were changed, it failed for another reason than an assertion')
  if (after.status !== 'passed') return makeNoEvidence(`it was ${after.status} once its assertions were changed`)
  const { found, file } = subject
  if (!turned.isComplete && found !== null && isAmbiguous(found, file.inversion.tests)) return makeNoEvidence(UNNAMED)
  return isTurned(subject) ? { verdict: 'survived', reason: null } : makeNotJudged(subject)
}

// Where a runner checks types file by file, a rewritten condition may not compile.
function isUncompiled({ file: { path } }: Subject, { loadFailures }: ObservedRun): boolean {
  return TYPED.test(path) && loadFailures.some(({ file, message }) => file === path && /\bTS\d{4,5}\b/.test(message))
}

const TYPED = /\.[cm]?tsx?$/
const UNNAMED = 'its name is computed, and the run lists only failing tests: let the command list every test'
const WITH_TWIN = 'with its text rewritten, and what it expects unchanged, it'

function makeNoEvidence(reason: string): TwinVerdict {
  return { verdict: 'no_evidence', reason }
}

function explainUnusable(run: ObservedRun): string | null {
  if (run.wasStopped) return 'the inverted run took too long'
  if (run.isVoid === true) return 'the inverted run wrote files that it is judged by'
  return run.counts === null || run.problem !== null ? 'the inverted run could not be read' : null
}

interface Result {
  readonly status: ObservedTest['status'] | 'missing'
  readonly message: string | null
}

// Runners that list only failures are taken at their counts: as many tests as before must have run.
function findResult({ id, file, found }: Subject, run: ObservedRun, atLeast: number): Result {
  const own = run.tests.filter((test) => isTestIn(test, file.path, file.text))
  const name = parseTestName(id)
  const exact = own.find((test) => test.id === id) ?? own.find((test) => parseTestName(test.id) === name)
  const same = exact === undefined && found !== null ? own.filter((test) => isOf(test, found, file)) : []
  const result = exact ?? same.find(({ status }) => status === 'failed') ?? same[0]
  if (result !== undefined) return { status: result.status, message: result.message }
  const isUnlisted = !run.isComplete && sumCounts(run) >= atLeast && !hasLoadFailure(run, file.path)
  return { status: isUnlisted ? 'passed' : 'missing', message: null }
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

// A test that cannot be found in its file may hold any of its assertions.
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

function makeNotJudged({ file: { inversion } }: Subject): TwinVerdict {
  return { verdict: 'not_judged', reason: explainNotJudged(inversion) }
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
  too_large: 'its file is too large',
  too_deep: 'its file is nested too deeply',
  took_too_long: 'turning its file around took too long',
  not_parsed: 'its file could not be parsed',
  rewrite_not_parsed: 'its file could not be rewritten',
}
