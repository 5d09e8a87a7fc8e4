import type { Contract } from '../../core/contract/contract.js'
import { type InvertedRun, isNewTest, type JudgedTest, listNewVerdicts } from '../../core/evidence/inverted-run.js'
import { isRed } from '../../core/gates/ways-back.js'
import type { CheckOutcome } from '../../core/task/command.js'
import { formatCount } from '../../core/text.js'
import { type Check, type CheckInputs, failCheck, passCheck, postponed } from '../check-inputs.js'
import { planCriteria } from '../plan-checks.js'
import { type Criterion, matchesTest } from '../red-green/red-criteria.js'
import { listNamedTests, type NamedTest } from '../test-files/test-files.js'
import { COMPILED } from './judge-twins.js'

const NAMED_MAX = 5

/** New and changed tests fail when their expected values are changed, and each criterion has one that does. */
export const checkTestsCanFail: Check = (inputs) => {
  const run = inputs.observed.get('tests')
  const inverted = run?.inverted
  if (inverted === undefined) return judgeBeforeGreen(inputs, run !== undefined)
  const isStrict = inputs.contract.tests.inverted?.strict === true
  if (inverted.problem !== null && inverted.blocks === true)
    return { ...failCheck(inverted.problem, 'observed'), remedy: formatRemedy(inputs, inverted) }
  if (inverted.problem !== null) return makeNotJudged(inverted.problem, isStrict)
  const fresh = inverted.tests.filter(isNewTest)
  const survived = fresh.filter(({ verdict }) => verdict === 'survived')
  const apart = fresh.filter(({ failsRewritten }) => failsRewritten === true)
  const open = openCriteria(inputs, inverted, isStrict)
  const found = [
    ...(survived.length === 0 ? [] : [formatSurvived(survived)]),
    ...(apart.length === 0 ? [] : [formatApart(apart)]),
    ...open,
  ]
  if (found.length > 0) return { ...failCheck(found.join('. '), 'observed'), remedy: formatRemedy(inputs, inverted) }
  const proved = listNewVerdicts(inverted.tests).filter((verdict) => verdict === 'proved').length
  const cases = inverted.tests.filter((test) => isNewTest(test) && test.verdict === 'proved').length
  const shown = `${formatCount(proved, 'new test')}${cases > proved ? ` (${cases} cases)` : ''} proved`
  return passCheck(shown, proved > 0 ? 'proved' : 'observed', listNotes(inverted))
}

// If all_tests_pass is in the same gate, it alone reports what is missing.
function judgeBeforeGreen({ contract, task }: CheckInputs, hasRun: boolean): CheckOutcome {
  const gates = contract.phases.get(String(task.phase))?.gates ?? []
  const asking = gates.filter(({ blockers }) => blockers.some(({ check }) => check === 'tests_can_fail'))
  const isHeld = asking.every(({ blockers }) =>
    blockers.some(({ check, severity }) => check === 'all_tests_pass' && severity === 'blocking'),
  )
  if (asking.length > 0 && isHeld) return passCheck('not judged while the tests do not pass', 'observed')
  return hasRun
    ? failCheck('the tests must pass first', 'observed')
    : postponed('the tests were not run yet', 'observed')
}

function makeNotJudged(problem: string, isStrict: boolean): CheckOutcome {
  const text = `The new tests were not judged: ${problem}`
  return isStrict ? failCheck(text, 'observed') : passCheck('not judged', 'observed', [text])
}

function formatSurvived(tests: readonly JudgedTest[]): string {
  const verb = tests.length === 1 ? 'still passes' : 'still pass'
  const lines = tests.flatMap(({ heldLine, file }) => (heldLine == null ? [] : [`${file}:${heldLine}`]))
  const where =
    lines.length === 0
      ? ''
      : ` (${formatList([...new Set(lines)])} passes whatever value it expects, or its failure is caught)`
  return `${formatList(tests.map(placeWithReason))} ${verb} when the expected value is changed: the result does not come from an assertion${where}`
}

function formatApart(tests: readonly JudgedTest[]): string {
  const verb = tests.length === 1 ? 'passes' : '(each of them) passes'
  const change = tests.every(({ file }) => COMPILED.test(file))
    ? 'its test file is taken away after it was compiled'
    : 'its text is rewritten with the same expected values'
  return `${formatList(tests.map(formatPlace))} ${verb} as written, but not when ${change}`
}

function placeWithReason(test: JudgedTest): string {
  return `${formatPlace(test)}${test.reason === null ? '' : ` (${test.reason})`}`
}

function formatPlace({ id, file, line }: JudgedTest): string {
  const place = line === null ? file : `${file}:${line}`
  return id.startsWith(file) || id.startsWith(place)
    ? `${id}${line === null ? '' : ` (line ${line})`}`
    : `${place} ${id}`
}

/**
 * Criteria for which no new test is proved, each with the reasons. Without a plan all new tests count for one
 * criterion.
 */
function openCriteria(inputs: CheckInputs, { tests }: InvertedRun, isStrict: boolean): readonly string[] {
  const { criteria, isTogether } = planCriteria(inputs)
  const files = listNamedTests(inputs)
  const fresh = tests.filter(isNewTest)
  const open: string[] = []
  for (const criterion of criteria) {
    const isIts = (test: JudgedTest): boolean => isTogether || files.length === 0 || isFor(test, criterion, files)
    const its = fresh.filter(isIts)
    const isProved = its.some(({ verdict }) => verdict === 'proved')
    const isExcused = !isStrict && its.some(({ hasNoRules }) => hasNoRules === true)
    if (!isProved && !isExcused)
      open.push(`no test is proved for ${criterion.shown}${formatReasons(its, tests.filter(isIts))}`)
  }
  if (criteria.length > 0 || fresh.length === 0) return open
  const isFine = fresh.some(({ verdict, hasNoRules }) => verdict === 'proved' || (!isStrict && hasNoRules === true))
  return isFine ? [] : [`no new test is proved${formatReasons(fresh)}`]
}

function isFor({ id, file }: JudgedTest, { names }: Criterion, files: readonly NamedTest[]): boolean {
  return files.some(({ path, covers, criteria }) => {
    if (path !== file || !names.some((name) => covers.includes(name))) return false
    const patterns = names.flatMap((name) => criteria.get(name) ?? [])
    return patterns.length === 0 || patterns.some((pattern) => matchesTest(pattern, id))
  })
}

function formatReasons(tests: readonly JudgedTest[], all: readonly JudgedTest[] = []): string {
  if (tests.length === 0) return `: it has no new test that passes${formatOld(all)}`
  const told = tests.filter(({ reason }) => reason !== null).map((test) => `${formatPlace(test)}: ${test.reason}`)
  return told.length === 0 ? '' : ` (${formatList(told, '; ')})`
}

function formatOld(tests: readonly JudgedTest[]): string {
  const verb = tests.length === 1 ? 'was' : 'were'
  return tests.length === 0
    ? ''
    : ` (${formatList(tests.map(formatPlace))} ${verb} there before the task with the same text: write a new test)`
}

function listNotes({ tests }: InvertedRun): readonly string[] {
  const told = tests.filter(({ verdict }) => verdict === 'not_judged' || verdict === 'no_evidence')
  const old = tests.filter(({ verdict, isOld }) => verdict === 'survived' && isOld === true)
  return [
    ...(told.length === 0
      ? []
      : [`Not proved: ${formatList(told.map((test) => `${formatPlace(test)} (${test.verdict}: ${test.reason})`))}`]),
    ...(old.length === 0
      ? []
      : [
          `For information: tests that were there before the task and cannot fail: ${formatList(old.map(formatPlace))}`,
        ]),
  ]
}

function formatList(texts: readonly string[], separator = ', '): string {
  const more = texts.length - NAMED_MAX
  return `${texts.slice(0, NAMED_MAX).join(separator)}${more > 0 ? ` and ${more} more` : ''}`
}

/** How pinned tests can be corrected: the way back that the contract has. */
function formatRemedy({ contract, task }: CheckInputs, { tests, isUnsettled, blocks }: InvertedRun): string {
  const back = formatWayBack(findWayBack(contract, String(task.phase)))
  if (isUnsettled === true && tests.every(({ verdict }) => verdict !== 'survived')) {
    const again = `${RUN_AGAIN} ${back}, then ${APART}. ${ALLOW_MORE}`
    return tests.some(({ failsRewritten }) => failsRewritten === true) ? `${again} ${LOOK_AWAY}` : again
  }
  return `${back}, then ${blocks === true ? FEWER : MEND}. Your code stays. If the code replaces assertions or their results, remove that instead.`
}

function formatWayBack(way: ReturnType<typeof findWayBack>): string {
  if (way === null) return 'Ask an operator to rewind the task to the phase of the tests'
  return `Request ${way.to}${way.when === null ? '' : ` with "claims": {"${way.when}": true}`}`
}

const RUN_AGAIN = 'Ask again: the tests are run once more. If the reason stays:'
const APART = 'put the new tests into a file of their own, so that no other test of the file is run with them'
const ALLOW_MORE =
  'Or ask an operator for a contract with a larger tests.inverted.max_seconds or with severity: warning for tests_can_fail.'

const LOOK_AWAY =
  'If the code looks at its tests (their files, the stack, the text of functions), remove that. Rewrite a test that reads its own text or line numbers.'

const MEND = 'change the tests so that each asserts what its criterion says on a value that the code under test returns'
const FEWER = 'put the new tests into fewer files, or make several tasks of this one'

function findWayBack(contract: Contract, phase: string): { readonly to: string; readonly when: string | null } | null {
  return contract.transitions.find(({ from, to }) => from === phase && isRed(contract.phases.get(to))) ?? null
}
