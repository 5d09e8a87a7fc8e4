import { describe, expect, it } from 'vitest'
import { isAssertionFailure } from '../../src/checks/inverted/failed-by-assertion.js'
import { findTest } from '../../src/checks/inverted/find-test.js'
import { haveAll, judgeTwins } from '../../src/checks/inverted/judge-twins.js'
import { narrowCommand } from '../../src/checks/inverted/narrow-command.js'
import { findNewResults } from '../../src/checks/inverted/new-results.js'
import { isOldTest, listSubjects, type TurnedFile } from '../../src/checks/inverted/subjects.js'
import { dropLinters } from '../../src/checks/inverted/without-linters.js'
import { gradeRun, isNewTest } from '../../src/core/evidence/inverted-run.js'
import type { Baseline, ObservedRun, ObservedTest, PinnedRun } from '../../src/core/evidence/observed-run.js'
import type { FoundTest, Inversion } from '../../src/inverter/types.js'

const FILE = 'tests/add.test.js'
const test = (id: string, status: ObservedTest['status'], message: string | null = null): ObservedTest => ({
  ...{ id, status, message, file: FILE },
})
const runOf = (tests: readonly ObservedTest[], more: Partial<ObservedRun> = {}): ObservedRun => {
  const count = (status: string) => tests.filter((one) => one.status === status).length
  return {
    ...{ name: 'tests', command: 'x', exitCode: 0, tests, isComplete: true, loadFailures: [], coverage: null },
    ...{ wasStopped: false, problem: null, durationMs: 1, treeHash: 'x' },
    counts: { passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    ...more,
  }
}
const found = (name: string, turned = 1): FoundTest => ({
  name,
  line: 3,
  digest: '',
  turned,
  leftAlone: 0,
  helpers: [],
})
const inversionOf = (tests: readonly FoundTest[], more: object = {}): Inversion =>
  ({
    ...{ outcome: 'rewritten', language: 'javascript', areTwins: true, unturned: 'u', turned: 't' },
    ...{ tests, leftAlone: [], libraries: ['node:assert'] },
    turnedAssertions: tests.map(({ name }) => ({
      test: name,
      line: 3,
      library: 'x',
      assertion: 'equal',
      rule: 'expected',
    })),
    ...more,
  }) as Inversion
const fileOf = (inversion: Inversion, old: readonly string[] = []): TurnedFile => ({
  ...{ path: FILE, text: "test('adds')", inversion, old: new Set(old) },
})

/** The verdict on the test `adds`, which passed in the plain run. */
const judged = (
  turned: ObservedRun,
  { unturned = runOf([test('adds', 'passed')]), file = fileOf(inversionOf([found('adds')])) } = {},
) => {
  const plain = runOf([test('adds', 'passed')])
  const [verdict] = judgeTwins(listSubjects(plain, [file]), { unturned, turned, isNarrow: false }, plain)
  return verdict
}

describe('the verdict on a test', () => {
  it.each([
    ['AssertionError [ERR_ASSERTION]: 5 !== 6', 'proved'],
    ['the sum is wrong', 'proved'],
    [null, 'proved'],
    ['ReferenceError: $0a is not defined', 'no_evidence'],
    ['TypeError: x is not a function', 'no_evidence'],
    ['SyntaxError: Unexpected token', 'no_evidence'],
    ["Cannot find module './x.js'", 'no_evidence'],
    ['test timed out after 5000ms', 'no_evidence'],
    ['connect ECONNREFUSED 127.0.0.1:80', 'no_evidence'],
  ] as const)('[REQ-TWINS-4] a test that fails with %j when it is turned is %s', (message, verdict) => {
    expect(judged(runOf([test('adds', 'failed', message)]))?.verdict).toBe(verdict)
  })

  it('[REQ-TWINS-4] a test that still passes survived, unless none of its assertions was inverted', () => {
    const turned = runOf([test('adds', 'passed')])
    expect(judged(turned)).toMatchObject({ verdict: 'survived', line: 3, file: FILE })
    const silent = fileOf(inversionOf([found('adds', 0)]))
    expect(judged(turned, { file: silent })).toMatchObject({
      verdict: 'not_judged',
      reason: 'it has no assertion that is known (the file uses node:assert)',
    })
    const helped = fileOf(inversionOf([{ ...found('adds', 0), helpers: ['same'] }]))
    expect(judged(turned, { file: helped })?.verdict).toBe('survived')
  })

  it('[REQ-TWINS-4] a run that is missing, stopped, void or unreadable is not evidence', () => {
    const failing = [test('adds', 'failed', 'AssertionError')]
    for (const run of [
      runOf([]),
      runOf([test('adds', 'skipped')]),
      runOf(failing, { wasStopped: true }),
      runOf(failing, { isVoid: true }),
      runOf(failing, { problem: 'exit code 0' }),
      runOf(failing, { counts: null }),
    ])
      expect(judged(run)).toMatchObject({ verdict: 'no_evidence', reason: expect.any(String) })
  })

  it('[REQ-TWINS-4] the unturned twin must pass', () => {
    const turned = runOf([test('adds', 'failed', 'AssertionError')])
    for (const unturned of [turned, runOf([]), runOf([test('adds', 'passed')], { isVoid: true })])
      expect(judged(turned, { unturned })?.verdict).toBe('no_evidence')
  })

  it('[REQ-TWINS-16] a test that passes only as written is marked, unless the compiler refuses the rewritten text', () => {
    const turned = runOf([test('adds', 'failed', 'AssertionError')])
    const typed = { ...fileOf(inversionOf([found('adds')])), path: 'tests/add.test.ts' }
    const didNotLoad = (message: string) =>
      runOf([], { loadFailures: [{ file: typed.path, kind: 'other' as const, message }] })
    expect(judged(turned, { unturned: turned })).toMatchObject({ failsRewritten: true })
    expect(judged(turned, { unturned: runOf([]) })).toMatchObject({ failsRewritten: true })
    expect(judged(turned, { unturned: runOf([test('adds', 'skipped')]) })).toMatchObject({ failsRewritten: true })
    expect(judged(turned)).not.toHaveProperty('failsRewritten')
    const plain = runOf([{ ...test('adds', 'passed'), file: typed.path }])
    const [uncompiled, thrown] = ['error TS2345: no overload', 'Error: not now'].map((message) =>
      judgeTwins(listSubjects(plain, [typed]), { unturned: didNotLoad(message), turned, isNarrow: false }, plain),
    )
    expect(uncompiled?.[0]).not.toHaveProperty('failsRewritten')
    expect(thrown?.[0]).toMatchObject({ failsRewritten: true })
  })

  it('[REQ-TWINS-5] a library or a language without rules is named', () => {
    const turned = runOf([test('adds', 'passed')])
    const should = fileOf(inversionOf([found('adds', 0)], { libraries: ['should'] }))
    expect(judged(turned, { file: should })).toMatchObject({
      ...{ verdict: 'not_judged', reason: 'there are no rules for assertions of should', hasNoRules: true },
    })
    const large = fileOf(inversionOf([], { outcome: 'not_judged', reason: 'too_large', libraries: [] }))
    expect(judged(turned, { file: large })).toEqual(expect.not.objectContaining({ hasNoRules: true }))
  })

  it('[REQ-TWINS-6] tests that were there before and are not changed are marked', () => {
    const old = fileOf(inversionOf([found('adds')]), ['adds'])
    expect(judged(runOf([test('adds', 'passed')]), { file: old })).toMatchObject({ verdict: 'survived', isOld: true })
  })

  it('[REQ-TWINS-4] a runner that lists only failures is taken at its counts', () => {
    const listless = (failed: readonly ObservedTest[], total: number) =>
      runOf(failed, { isComplete: false, counts: { passed: total - failed.length, failed: failed.length, skipped: 0 } })
    const plain = listless([], 2)
    const file = fileOf(inversionOf([found('adds'), found('lies')]))
    const verdicts = (turned: ObservedRun) =>
      judgeTwins(listSubjects(plain, [file]), { unturned: plain, turned, isNarrow: false }, plain).map(
        (one) => one.verdict,
      )
    const failing = test('tests/add.test.js > adds', 'failed', 'AssertionError')
    expect(verdicts(listless([failing], 2))).toEqual(['proved', 'survived'])
    expect(verdicts(listless([failing], 1))).toEqual(['proved', 'no_evidence'])
    const [, lies] = judgeTwins(
      listSubjects(plain, [file]),
      { unturned: plain, turned: listless([failing], 2), isNarrow: false },
      plain,
    )
    expect(lies?.reason).toMatch(/^the command lists only failing tests, and it is not among them/)
  })

  it('[REQ-TWINS-4] a file that cannot be rewritten represents its tests if the runner lists only failures', () => {
    const plain = runOf([], { isComplete: false, counts: { passed: 2, failed: 0, skipped: 0 } })
    for (const [reason, told] of [
      ['too_large', /^its file has more than 1,000,000 characters: split it/],
      ['too_deep', /^its file is nested deeper than 400 levels/],
    ] as const) {
      const file = fileOf(inversionOf([], { outcome: 'not_judged', reason, libraries: [] }))
      const [one] = judgeTwins(listSubjects(plain, [file]), null, plain)
      expect(one).toMatchObject({ id: FILE, verdict: 'not_judged', reason: expect.stringMatching(told) })
    }
  })

  it('[REQ-TWINS-6] a text that only contains the name of a test is not its file, where the runner names none', () => {
    const nameless = (id: string) => ({ ...test(id, 'passed'), file: null })
    const plain = runOf([nameless('one at a time'), nameless('found nowhere')])
    const [tests, types] = ['test.js', 'index.test-d.ts'].map((path) => ({
      ...fileOf(inversionOf(path === 'test.js' ? [found('one at a time')] : [])),
      ...{ path, text: "'one at a time' 'found nowhere'" },
    })) as [TurnedFile, TurnedFile]
    expect(listSubjects(plain, [types, tests]).map(({ id, file }) => [id, file.path])).toEqual([
      ['found nowhere', 'index.test-d.ts'],
      ['one at a time', 'test.js'],
      ['found nowhere', 'test.js'],
    ])
    expect(listSubjects(plain, [types])).toHaveLength(2)
  })

  it('[REQ-TWINS-9] narrow runs in which a test is missing are not enough', () => {
    const plain = runOf([test('adds', 'passed')])
    const subjects = listSubjects(plain, [fileOf(inversionOf([found('adds')]))])
    const turned = runOf([test('adds', 'failed', 'AssertionError')])
    expect(haveAll(subjects, { unturned: plain, turned, isNarrow: true })).toBe(true)
    expect(haveAll(subjects, { unturned: runOf([]), turned, isNarrow: true })).toBe(false)
    expect(haveAll(subjects, { unturned: plain, turned: runOf([]), isNarrow: true })).toBe(false)
  })

  it('[REQ-TWINS-17] an example in a comment of Rust is named, and judged by nothing that its file asserts', () => {
    const example = { ...test('src/lib.rs - tests::adds', 'passed'), file: null }
    const inline = { ...test('tests::adds', 'passed'), file: 'src/lib.rs' }
    const plain = runOf([inline, example])
    const file = { ...fileOf(inversionOf([found('tests::adds')])), path: 'src/lib.rs', text: 'fn adds() {}' }
    const subjects = listSubjects(plain, [file])
    const turned = runOf([{ ...inline, status: 'failed', message: 'assertion failed' }])
    const runs = { unturned: runOf([inline]), turned, isNarrow: true }
    expect(haveAll(subjects, runs)).toBe(true)
    expect(judgeTwins(subjects, runs, plain)).toMatchObject([
      { id: 'tests::adds', verdict: 'proved' },
      {
        ...{ id: 'src/lib.rs - tests::adds', line: null, verdict: 'not_judged' },
        reason: 'it is an example in a comment, and these are not rewritten',
      },
    ])
  })

  it('[REQ-TWINS-7] a run is graded proved when a new test was proved and none survived', () => {
    const of = (...verdicts: readonly ('proved' | 'survived' | 'not_judged')[]) => ({
      inverted: {
        ...{ problem: null, durationMs: 1 },
        tests: verdicts.map((verdict) => ({ id: 'x', file: 'x', line: 1, verdict, reason: null })),
      },
    })
    expect(gradeRun({})).toBe('observed')
    expect(gradeRun(of('not_judged'))).toBe('observed')
    expect(gradeRun(of('proved', 'not_judged'))).toBe('proved')
    expect(gradeRun(of('proved', 'survived'))).toBe('observed')
  })

  it('[REQ-TWINS-4] a Python test may fail with the exception that it expects', () => {
    expect(isAssertionFailure('TypeError: bad', { expectsException: true })).toBe(true)
    expect(isAssertionFailure("ModuleNotFoundError: No module named 'x'", { expectsException: true })).toBe(false)
    expect(isAssertionFailure('panic: runtime error: index out of range', { expectsException: false })).toBe(false)
  })
})

describe('a test whose file the runner does not say', () => {
  it('[REQ-TWINS-6] is taken for the one in a file that is not changed', () => {
    const plain = runOf([{ ...test('adds', 'passed'), file: null }])
    const file = fileOf(inversionOf([found('adds')]))
    expect(listSubjects(plain, [file])).toHaveLength(1)
    expect(listSubjects(plain, [file], [{ path: 'tests/old.test.js', text: "test('adds')" }])).toEqual([])
    expect(listSubjects(plain, [file], [{ path: 'tests/old.test.js', text: "test('more')" }])).toHaveLength(1)
  })
})

describe('a test whose text is old', () => {
  const plain = runOf([test('adds', 'passed')])
  const old = fileOf(inversionOf([found('adds')]), ['adds'])
  const known = { counts: { passed: 1, failed: 0, skipped: 0 }, exitCode: 0, flaky: [], reason: null }
  const baseline = (tests: readonly ObservedTest[], isComplete = true): Baseline =>
    ({ ...known, tests, isComplete, loadFailures: [] }) as unknown as Baseline
  const pinned = (failed: readonly string[]): PinnedRun => ({
    ...{ ids: [], unloaded: [] },
    failed: failed.map((id) => ({ id, file: FILE })),
  })
  it.each([
    ['it passed before and at RED', [], baseline([test('adds', 'passed')]), false],
    ['it failed at RED', ['adds'], baseline([test('adds', 'passed')]), true],
    ['it failed at RED and before', ['adds'], baseline([test('adds', 'failed')]), false],
    ['no test of this name ran before', [], baseline([test('other', 'passed')]), true],
    ['not every test before is known', [], baseline([test('other', 'passed')], false), false],
    ['nothing is known of before', [], null, false],
  ])('[REQ-TWINS-22] can prove a criterion only if its result is new: %s', (_, failed, before, isNew) => {
    const subjects = listSubjects(plain, [old], [], findNewResults(pinned(failed), before))
    expect(subjects.map(isOldTest)).toEqual([!isNew])
    const turned = runOf([test('adds', 'failed', 'AssertionError')])
    const [judged] = judgeTwins(subjects, { unturned: plain, turned, isNarrow: false }, plain)
    expect(judged !== undefined && isNewTest(judged)).toBe(isNew)
  })

  it('[REQ-TWINS-22] counts in a file only as that file, where the runner names files', () => {
    const elsewhere = { ids: [], unloaded: [], failed: [{ id: 'adds', file: 'tests/other.test.js' }] }
    expect(listSubjects(plain, [old], [], findNewResults(elsewhere, null)).map(isOldTest)).toEqual([true])
  })
})

describe('a computed name, where the runner does not name files', () => {
  const isNew = () => true
  const made: ObservedTest = { id: 'foot has a factor', status: 'passed', message: null, file: null }
  const plain = runOf([made])
  const shaped = (name: string): TurnedFile => ({ ...fileOf(inversionOf([found(name)])), text: '' })
  const other = (names: readonly string[]) => [{ path: 'tests/units.test.js', text: '', names }]
  it.each([
    ['of no other', [], 1],
    ['of another that explains more of it', [`\${unit} has a factor`], 0],
    ['of another that has the name itself', ['foot has a factor'], 0],
    ['of another that explains as much', ['%s factor'], 0],
    ['of another that explains less', ['%s r'], 1],
  ])('[REQ-TWINS-22] belongs to the changed file that explains most of it: %s', (_, names, count) => {
    expect(listSubjects(plain, [shaped('%s factor')], other(names), isNew)).toHaveLength(count)
  })
  it('[REQ-TWINS-22] is looked for only where the result is new', () => {
    expect(listSubjects(plain, [shaped('%s factor')], [], () => false)).toEqual([])
  })
  it('[REQ-TWINS-22] is not taken away by a file that has its words elsewhere', () => {
    const words = { path: 'tests/old.test.js', text: 'foot has a factor', names: ['feet'] }
    expect(listSubjects(plain, [shaped('%s factor')], [words], isNew)).toHaveLength(1)
  })
})

describe('the test that a runner names', () => {
  it('[REQ-TWINS-8] is the one with this name, however long the name with placeholders is that fits too', () => {
    const tests = [found('fizz of the number %s'), found('fizz of %s'), found('fizz of 3')]
    expect(findTest('fizz of 3', tests, FILE)?.name).toBe('fizz of 3')
    expect(findTest('fizz of 4', tests, FILE)?.name).toBe('fizz of %s')
    expect(findTest('fizz of the number 4', tests, FILE)?.name).toBe('fizz of the number %s')
  })
  it('[REQ-TWINS-8] is found among names that are made to take long', () => {
    const long = '$'.concat('{').repeat(400_000)
    const tests = [found(long), ...Array.from({ length: 3000 }, (_, at) => found(`adds ${at}`))]
    for (let at = 0; at < 3000; at += 1) expect(findTest(`adds ${at}`, tests, FILE)?.name).toBe(`adds ${at}`)
    expect(findTest('none', tests, FILE)).toBeNull()
  })

  it.each([
    ['adds', 'adds', FILE],
    ['adds #2', 'adds', FILE],
    ['tests/add.test.js > sums > adds', 'sums > adds', FILE],
    ['sums > adds 2 and 3', 'sums > adds %i and %i', FILE],
    ['adds 2', `adds \${a}`, FILE],
    ["doesn't add", "doesn\\'t add", FILE],
    ['tests/test_add.py::TestAdd::test_adds[2-3]', 'TestAdd::test_adds', 'tests/test_add.py'],
    ['tests.test_add.TestAdd.test_adds', 'TestAdd::test_adds', 'tests/test_add.py'],
    ['example.com/calc > TestAdds/two_and_three', 'TestAdds', 'add_test.go'],
    ['tests::adds', 'tests::adds', 'src/lib.rs'],
  ])('[REQ-TWINS-8] %s is %s', (id, name, path) => {
    expect(findTest(id, [found('another one'), found(name)], path)?.name).toBe(name)
  })

  it('[REQ-TWINS-8] none is found by a part of its name', () => {
    expect(findTest('subtracts', [found('tracts')], FILE)).toBeNull()
    expect(findTest('x > TestAddsMore', [found('TestAdds')], 'a_test.go')).toBeNull()
  })
})

describe('the command that runs only some files', () => {
  it.each([
    ['node --test', "node --test 'tests/a.js'"],
    ['node --test --test-reporter tap tests/', "node --test --test-reporter tap 'tests/a.js'"],
    ['npx vitest run --reporter=verbose', "npx vitest run --reporter=verbose 'tests/a.js'"],
    ['npx jest --ci', "npx jest --ci '--runTestsByPath' 'tests/a.js'"],
    ['npx mocha tests', "npx mocha 'tests/a.js'"],
    ['python3 -m pytest -v -p no:cacheprovider tests', "python3 -m pytest -v -p no:cacheprovider 'tests/a.js'"],
    ['.venv/bin/python -m pytest -v', ".venv/bin/python -m pytest -v 'tests/a.js'"],
    ['venv/bin/pytest -v', "venv/bin/pytest -v 'tests/a.js'"],
    ['go test -v ./...', "go test -v './tests'"],
    ['npm test', "npm test -- 'tests/a.js'"],
    ['npm run unit --silent', "npm run unit --silent -- 'tests/a.js'"],
    ['cargo test', null],
    ['npm run chained', null],
    ['npm run named', null],
    ['npm run missing', null],
    ['make test', null],
    ['node --test && echo done', null],
    ['cd x; node --test', null],
    ['.venv/bin/python -m unittest -v', ".venv/bin/python -m unittest -v 'tests/a.js'"],
    ['python3 -m unittest discover -v -s tests', "python3 -m unittest discover -v -s tests '-p' 'a.js'"],
    ['python3 -m unittest discover tests -v', "python3 -m unittest discover -v tests '-p' 'a.js'"],
    ['uv run pytest -v', "uv run pytest -v 'tests/a.js'"],
    ['npm run covered', "npm run covered -- 'tests/a.js'"],
    ['nyc --reporter=lcov mocha --require x tests', "nyc --reporter=lcov mocha --require x 'tests/a.js'"],
  ])('[REQ-TWINS-9] %s', (run, narrow) => {
    const scripts = {
      ...{ test: 'node --test', unit: 'vitest run', chained: 'tsc && node --test', named: 'node --test tests/' },
      covered: 'nyc --reporter=lcov --reporter=text mocha --require tests/env',
    }
    expect(narrowCommand(run, ['tests/a.js'], scripts)).toBe(narrow)
  })

  it('[REQ-TWINS-9] tests of Python are named one by one, unless a name is none that the runner takes', () => {
    const narrow = (run: string, tests: readonly string[], path = 'tests/test_a.py'): string | null =>
      narrowCommand(run, [path], {}, tests)
    const dotted = 'tests.test_a.TestA.test_b'
    expect(narrow('python3 -m unittest -v', [dotted])).toBe(`python3 -m unittest -v '${dotted}'`)
    expect(narrow('python3 -m unittest -v', [dotted, "x'; rm -rf ."])).toBe("python3 -m unittest -v 'tests/test_a.py'")
    expect(narrow('python3 -m unittest discover -v', [dotted])).toBe(
      `python3 -m unittest discover -v '-p' 'test_a.py' '-k' '${dotted}'`,
    )
    expect(narrow('pytest -v', ['tests/test_a.py::TestA::test_b'])).toBe("pytest -v 'tests/test_a.py::TestA::test_b'")
    expect(narrow('pytest -v', ['tests/test_a.py::test_b[$(id)]'])).toBe("pytest -v 'tests/test_a.py'")
    expect(narrowCommand('python3 -m unittest discover', ['a/test_a.py', 'b/test_b.py'], {})).toBe(null)
  })

  it('[REQ-TWINS-9] tests of Go are named, unless the command chooses tests or a file has none', () => {
    const file = {
      path: 'sum/a_test.go',
      text: 'func TestA(t *testing.T) {}\n// func TestB(\nfunc (s *S) TestC() {}\n',
    }
    const narrow = (run: string, text = file.text): string | null => narrowCommand(run, [{ ...file, text }], {})
    expect(narrow('go test -json -run TestX ./...')).toBe("go test -json -run TestX './sum'")
    expect(narrow('go test -json ./...', 'package sum\n')).toBe("go test -json './sum'")
    expect(narrow('go test -json ./...')).toBe("go test -json '-run' '^(?:TestA)$' './sum'")
  })

  it('[REQ-TWINS-9] tests of cargo are named by their file, and odd paths are not named', () => {
    expect(narrowCommand('cargo test --offline', ['tests/add.rs'], {})).toBe("cargo test --offline '--test' 'add'")
    for (const path of ["a'b.js", '-x.js', 'a;b.js', 'a$b.js', 'a\nb.js'])
      expect(narrowCommand('node --test', [path], {})).toBeNull()
  })
})

describe('the command without linters, which refuse rewritten tests', () => {
  const scripts = {
    ...{
      test: 'pnpm lint && vitest run --typecheck',
      xo: 'xo && ava && tsd',
      unit: 'mocha',
      all: 'npm run lint:js && npm run unit',
    },
    ...{
      last: 'nyc npm run unit && npm run lint',
      build: 'tsc && node --test',
      only: 'eslint .',
      odd: 'eslint . || mocha',
    },
    ...{ quoted: "eslint 'a && b' && mocha", glob: "standard && tape 'test/**/*.js'" },
  }
  it.each([
    ['npm test', 'vitest run --typecheck'],
    ['yarn xo', 'ava && tsd'],
    ['npm run all', 'npm run unit'],
    ['pnpm run last -s', 'nyc npm run unit'],
    ['npm run glob', "tape 'test/**/*.js'"],
    ['npx eslint . && npx vitest run', 'npx vitest run'],
    ['npm run build', null],
    ['npm run only', null],
    ['npm run odd', null],
    ['npm run quoted', null],
    ['npm run missing', null],
    ['eslint-free-runner && mocha', null],
    ['go test -json ./...', null],
  ])('[REQ-TWINS-9] %s', (run, line) => {
    const told = dropLinters(run, scripts)
    expect(told.line).toBe(line ?? run)
    expect(told.before !== '').toBe(line !== null && !run.startsWith('npx'))
  })
})

describe('tests whose names are computed, where the runner lists only failing tests', () => {
  const only = (failing: readonly string[]) =>
    runOf(
      failing.map((id) => test(id, 'failed', 'AssertionError: expected 2 to be 3')),
      { isComplete: false, counts: { passed: 4 - failing.length, failed: failing.length, skipped: 0 } },
    )
  const verdicts = (names: readonly string[], failing: readonly string[]) => {
    const file = fileOf(inversionOf(names.map((name) => found(name))))
    const subjects = listSubjects(only([]), [file])
    const runs = { unturned: only([]), turned: only(failing), isNarrow: true }
    return judgeTwins(subjects, runs, only([])).map(({ verdict }) => verdict)
  }
  it.each([
    ['a failure of its group is its own', ['add > (line 4)'], ['add > 1', 'add > 2'], ['proved']],
    ['without a group too', ['(line 4)'], ['1'], ['proved']],
    ['of another group not', ['add > (line 4)'], ['sub > 1'], ['survived']],
    ['of a test with that name not', ['add > (line 4)', 'add > one'], ['add > one'], ['survived', 'proved']],
    [
      'two of a group cannot be told apart',
      ['add > (line 4)', 'add > (line 9)'],
      ['add > 1'],
      ['no_evidence', 'no_evidence'],
    ],
  ])('[REQ-TWINS-1] %s', (_, names, failing, expected) => {
    expect(verdicts(names, failing)).toEqual(expected)
  })
})
