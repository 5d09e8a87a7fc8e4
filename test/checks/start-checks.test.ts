import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CheckInputs } from '../../src/checks/check-inputs.js'
import { runCheck } from '../../src/checks/run-check.js'
import type { Baseline, ObservedRun, ObservedTest } from '../../src/core/evidence/observed-run.js'
import type { Json } from '../../src/core/json.js'
import { openWorkTree } from '../../src/tree/work-tree.js'
import { contractOf, phase } from '../core/world.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'phaselock-start-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function put(name: 'then' | 'now', files: Record<string, string>): void {
  mkdirSync(join(root, name), { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name, path)), { recursive: true })
    writeFileSync(join(root, name, path), text)
  }
}

function judge(name: Parameters<typeof runCheck>[0], about: Partial<CheckInputs> = {}) {
  put('then', {})
  put('now', {})
  const start = { tree: openWorkTree(join(root, 'then')), isPermitted: async () => false }
  return runCheck(name, {
    ...{ contract: contractOf([phase('A')]), ofVisit: new Map(), all: new Map(), evidence: {}, task: { phase: 'A' } },
    ...{ tree: openWorkTree(join(root, 'now')), pinnedTests: null, observed: new Map(), observedView: {}, git: null },
    ...{ pinnedRun: null, params: {}, start },
    ...about,
  })
}

const test = (id: string, status: ObservedTest['status']): ObservedTest => ({ id, status, file: null, message: null })
function runOf(tests: readonly ObservedTest[], about: Partial<ObservedRun> = {}): ObservedRun {
  const count = (status: ObservedTest['status']): number => tests.filter((one) => one.status === status).length
  return {
    ...{ name: 'tests', command: 'npm test', exitCode: count('failed') > 0 ? 1 : 0, tests, isComplete: true },
    counts: { passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    ...{ loadFailures: [], coverage: null, wasStopped: false, problem: null, durationMs: 1, treeHash: 't' },
    ...about,
  } as ObservedRun
}
function baselineOf(tests: readonly ObservedTest[], about: Partial<Baseline> = {}): Baseline {
  const { counts, exitCode } = runOf(tests)
  return {
    ...{ tests, flaky: [], counts: counts ?? { passed: 0, failed: 0, skipped: 0 }, isComplete: true },
    ...{ loadFailures: [], exitCode, reason: null },
    ...about,
  }
}
const seen = (run: ObservedRun, baseline: Baseline | null): Partial<CheckInputs> => ({
  observed: new Map([[run.name, run]]),
  baseline,
})

describe('tests_not_worse', () => {
  const before = baselineOf([test('a', 'passed'), test('b', 'failed'), test('c', 'skipped')])

  it.each([
    ['a test that passed fails', [test('a', 'failed'), test('b', 'failed'), test('c', 'skipped')]],
    ['a test that passed is skipped', [test('a', 'skipped'), test('b', 'passed'), test('c', 'skipped')]],
    ['a test is gone', [test('b', 'passed'), test('c', 'passed')]],
    ['a new test fails', [test('a', 'passed'), test('b', 'failed'), test('c', 'skipped'), test('d', 'failed')]],
    ['a new test is skipped', [test('a', 'passed'), test('b', 'failed'), test('c', 'skipped'), test('d', 'skipped')]],
  ])('[REQ-CHECK-14] does not hold when %s', async (_, tests) => {
    expect(await judge('tests_not_worse', seen(runOf(tests), before))).toMatchObject({
      result: 'fails',
      grade: 'observed',
    })
  })

  it('[REQ-CHECK-14] holds over failures and skips from before, and names them', async () => {
    const run = runOf([test('a', 'passed'), test('b', 'failed'), test('c', 'skipped'), test('d', 'passed')])
    const outcome = await judge('tests_not_worse', seen(run, before))
    expect(outcome).toMatchObject({ result: 'holds', grade: 'observed' })
    expect(JSON.stringify(outcome)).toMatch(/before the task too: b.*before the task too: c/)
  })

  it('[REQ-CHECK-14] if the start is unknown, every test must pass; an unreadable or missing run never passes', async () => {
    expect(await judge('tests_not_worse', seen(runOf([test('a', 'passed'), test('b', 'failed')]), null))).toMatchObject(
      {
        result: 'fails',
      },
    )
    const unread = runOf([], { counts: null, exitCode: 0, problem: 'no report' })
    expect(await judge('tests_not_worse', seen(unread, before))).toMatchObject({ result: 'fails' })
    expect(await judge('tests_not_worse')).toMatchObject({ result: 'fails', isPostponed: true })
  })
})

describe('coverage_not_lower', () => {
  const covered = (percent: number, found: number, hit: number): ObservedRun =>
    runOf([], { name: 'coverage', coverage: percent, lines: { found, hit } })
  const start = (coverage: Baseline['coverage']): Baseline =>
    baselineOf([test('a', 'passed')], coverage === undefined ? {} : { coverage })
  const known = start({ percent: 90, found: 100, hit: 90 })

  it.each([
    ['more lines are without a test', covered(88, 100, 88), known, 'fails'],
    ['the command failed', { ...covered(99, 100, 99), exitCode: 1 }, known, 'fails'],
    ['nothing was reported', runOf([], { name: 'coverage' }), known, 'fails'],
    ['the start could not be measured', covered(99, 100, 99), start({ reason: 'no lcov report was written' }), 'error'],
    ['the start was not measured', covered(99, 100, 99), start(undefined), 'error'],
    ['there is no baseline', covered(99, 100, 99), null, 'error'],
  ] as const)('[REQ-CHECK-15] does not hold when %s', async (_, run, baseline, result) => {
    expect(await judge('coverage_not_lower', seen(run, baseline))).toMatchObject({ result, grade: 'observed' })
  })

  it.each([
    ['the share is the same', covered(90, 50, 45)],
    ['the share falls because covered lines were removed', covered(83.33, 60, 50)],
  ])('[REQ-CHECK-15] holds when %s', async (_, run) => {
    expect(await judge('coverage_not_lower', seen(run, known))).toMatchObject({ result: 'holds' })
  })
})

describe('tests_as_at_start', () => {
  const RUST = 'fn a() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(1, 1); }\n}\n'
  const TEST = "import { test } from 'node:test'\ntest('a', () => {})\n"

  it.each([
    ['a test file changed', { 'tests/a.test.js': 'a' }, { 'tests/a.test.js': 'b' }, 'tests/a.test.js'],
    ['a fixture beside it changed', { 'tests/data.json': '1' }, { 'tests/data.json': '2' }, 'tests/data.json'],
    ['a test file is gone', { 'tests/a.test.js': 'a' }, {}, 'tests/a.test.js (gone)'],
    ['a test under another name changed', { 'check.mjs': TEST }, { 'check.mjs': `${TEST}//` }, 'check.mjs'],
    ['a test inside of a source changed', { 'src/a.rs': RUST }, { 'src/a.rs': RUST.replace('1, 1', '1, 2') }, 'tests'],
    [
      'code asks whether it is tested',
      { 'src/a.rs': RUST },
      { 'src/a.rs': `${RUST}fn b() { if cfg!(test) {} }\n` },
      'cfg',
    ],
  ])('[REQ-CHECK-16] does not hold when %s', async (_, then, now, named) => {
    put('then', then)
    put('now', now as Record<string, string>)
    const outcome = await judge('tests_as_at_start')
    expect(outcome).toMatchObject({ result: 'fails', found: expect.stringContaining(named) })
  })

  it('[REQ-CHECK-16] holds when code changed, tests were added, and tests moved with their source', async () => {
    put('then', { 'src/a.js': '1', 'tests/a.test.js': 'a', 'src/a.rs': RUST, 'src/b.rs': 'fn b() {}\n' })
    const moved = RUST.slice(RUST.indexOf('#[cfg'))
    put('now', { 'src/a.js': '2', 'tests/a.test.js': 'a', 'tests/b.test.js': 'b', 'src/b.rs': `fn b() {}\n${moved}` })
    expect(await judge('tests_as_at_start')).toMatchObject({ result: 'holds' })
  })

  it('[REQ-CHECK-16] is an error if the tree at the start is unknown', async () => {
    expect(await judge('tests_as_at_start', { start: null })).toMatchObject({ result: 'error' })
  })
})

describe('test_files_load', () => {
  const named = new Map<string, Json>([['test_files', { test_files: [{ path: 'tests/a.test.js', covers: [] }] }]])
  const failure = (file: string | null) => ({ file, kind: 'missing_module' as const, message: 'cannot find x\nat y' })
  const run = (file: string | null) => runOf([test('b', 'failed')], { loadFailures: [failure(file)] })

  it.each(['tests/a.test.js', null])('[REQ-CHECK-17] does not hold when %s did not load', async (file) => {
    const outcome = await judge('test_files_load', { all: named, ...seen(run(file), null) })
    expect(outcome).toMatchObject({ result: 'fails', found: expect.stringContaining('cannot find x') })
  })

  it('[REQ-CHECK-17] does not hold without a named file or a run, and holds when others did not load', async () => {
    expect(await judge('test_files_load', seen(run('tests/b.test.js'), null))).toMatchObject({ result: 'fails' })
    expect(await judge('test_files_load', { all: named })).toMatchObject({ result: 'fails', isPostponed: true })
    const outcome = await judge('test_files_load', { all: named, ...seen(run('tests/b.test.js'), null) })
    expect(outcome).toMatchObject({ result: 'holds' })
  })
})

describe('quotes_hold', () => {
  const cited = (path: string, quote: Json) => ({
    ofVisit: new Map<string, Json>([['findings', { list: [{ deep: [{ path, quote }] }] }]]),
  })
  beforeEach(() =>
    put('now', { 'src/a.js': 'export function a(x) {\n  return eval(x)\n}\n', 'contract.yaml': 'secret' }),
  )

  it.each([
    ['the text is not there', 'src/a.js', 'new Function(x)'],
    ['the file is not there', 'src/b.js', 'eval'],
    ['the path leads out of the tree', '../now/src/a.js', 'eval(x)'],
    ['the quote is empty', 'src/a.js', '  '],
    ['the quote is no text', 'src/a.js', 5],
    ['agents may not see the file', 'contract.yaml', 'secret'],
  ])('[REQ-CHECK-18] does not hold when %s', async (_, path, quote) => {
    const isHidden = (one: string): boolean => one === 'contract.yaml'
    expect(await judge('quotes_hold', { ...cited(path, quote), isHidden })).toMatchObject({ result: 'fails' })
  })

  it('[REQ-CHECK-18] reveals nothing about a file that the phase does not let the agent read', async () => {
    const constraint = {
      ...{ allowedPatterns: null, forbiddenPatterns: ['src/**'], allowedCommands: null, forbiddenCommands: [] },
      ...{ network: false, timeoutSeconds: null },
    }
    const contract = contractOf([{ ...phase('A'), constraints: new Map([['read_files', constraint]]) }])
    expect(await judge('quotes_hold', { ...cited('src/a.js', 'eval(x)'), contract })).toMatchObject({ result: 'fails' })
  })

  it('[REQ-CHECK-18] does not hold without a quote, and holds for text of the file in any white space', async () => {
    expect(await judge('quotes_hold')).toMatchObject({ result: 'fails' })
    const outcome = await judge('quotes_hold', cited('src/a.js', 'a(x) { return eval(x)'))
    expect(outcome).toMatchObject({ result: 'holds', grade: 'artifact' })
  })
})
