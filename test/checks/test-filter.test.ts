import { describe, expect, it } from 'vitest'
import { testOutcome } from '../../src/app/test-runs/test-outcome.js'
import { addFilter } from '../../src/checks/observed-runs/test-filter.js'
import type { ObservedRun, ObservedTest } from '../../src/core/evidence/observed-run.js'

const test = (id: string): ObservedTest => ({ id, status: 'passed', file: null, message: null })
const run = (names: readonly string[], about: Partial<ObservedRun> = {}): ObservedRun => ({
  ...{ name: 'tests', command: 'go test ./...', exitCode: 0, isComplete: true, loadFailures: [], coverage: null },
  ...{ wasStopped: false, problem: null, durationMs: 1, treeHash: '', tests: names.map(test) },
  counts: { passed: names.length, failed: 0, skipped: 0 },
  ...about,
})
const answer = (observed: ObservedRun, filter?: string) => {
  const outcome = testOutcome(observed, { run: 'go test ./...', filter })
  return outcome.ok ? outcome.result : null
}

describe('the filter of run_tests', () => {
  it.each([
    ['go test -json ./...', 'TestSum', "go test -json ./... -run 'TestSum'"],
    ['go test -json ./...', './mux', "go test -json ./... './mux'"],
    ['go vet ./... && go test ./...', 'TestSum', "go vet ./... && go test ./... 'TestSum'"],
    ['go test ./... -args -x', 'TestSum', "go test ./... -args -x 'TestSum'"],
    ['python -m pytest -q', 'test_sum', "python -m pytest -q -k 'test_sum'"],
    ['pytest', 'tests/test_sum.py::test_sum', "pytest 'tests/test_sum.py::test_sum'"],
    ['.venv/bin/python -m pytest -q', 'test_sum', ".venv/bin/python -m pytest -q -k 'test_sum'"],
    ['uv run pytest', 'TestSum', "uv run pytest -k 'TestSum'"],
    ['.venv/bin/python -m pytest', 'test.py', ".venv/bin/python -m pytest 'test.py'"],
    ['python -m unittest -v', 'test_sum', "python -m unittest -v -k 'test_sum'"],
    ['npx jest --verbose', 'adds two numbers', "npx jest --verbose -t 'adds two numbers'"],
    ['npx vitest run', 'src/cart', "npx vitest run 'src/cart'"],
    ['npx mocha', 'adds two numbers', "npx mocha -g 'adds two numbers'"],
    ['npx jest && npm run lint', 'adds two numbers', "npx jest && npm run lint 'adds two numbers'"],
    ['npm test', 'cart', "npm test -- 'cart'"],
    ['npm test -- --run', 'cart', "npm test -- --run 'cart'"],
    ['cargo test', 'sums', "cargo test 'sums'"],
    ['pytest', "x'; touch stolen; '", "pytest 'x'\\''; touch stolen; '\\'''"],
  ])('[REQ-RUNTESTS-1] %s with %s is %s', (command, filter, line) => {
    expect(addFilter(command, filter).line).toBe(line)
  })

  it('[REQ-RUNTESTS-2] a filter that selected nothing, or too much, is said', () => {
    expect(answer(run(['mux.TestA', 'mux.TestB']), 'TestNone')).toMatchObject({
      filter: {
        ...{ text: 'TestNone', added_to_command: "-run 'TestNone'", tests_run: 2, tests_matching: 0 },
        note: 'The filter selected nothing: 2 tests that ran have another name and file, and no test that ran contains this text.',
      },
    })
    expect(answer(run(['mux.TestA', 'mux.TestB']), 'TestA')).toMatchObject({
      filter: {
        tests_matching: 1,
        note: 'The filter selected more than this text: 1 test that ran has another name and file.',
      },
    })
    expect(answer(run([]), 'TestA')).toMatchObject({ filter: { note: expect.stringContaining('No test ran') } })
  })

  it('[REQ-RUNTESTS-2] a filter that was applied has no note, and a run without one says nothing', () => {
    expect(answer(run(['mux.TestA']), 'TestA')).toMatchObject({
      filter: { text: 'TestA', added_to_command: "-run 'TestA'", tests_run: 1, tests_matching: 1 },
    })
    expect(JSON.stringify(answer(run(['mux.TestA']), 'TestA'))).not.toContain('note')
    expect(answer(run(['mux.TestA']))).not.toHaveProperty('filter')
  })

  it('[REQ-RUNTESTS-2] a file whose tests passed is not called another one where the report names no files', () => {
    const about = (names: readonly string[], filter: string, file: string | null = null) => {
      const tests = names.map((name) => ({ ...test(name), file }))
      const outcome = testOutcome(run(names, { tests }), { run: 'node --test', filter })
      return outcome.ok ? (outcome.result as { filter: Record<string, unknown> }).filter : null
    }
    expect(about(['adds', 'sums'], 'tests/b.test.js', 'tests/a.test.js')).toMatchObject({
      ...{ tests_run: 2, tests_matching: 0, note: expect.stringContaining('The filter selected nothing') },
    })
    expect(about(['adds', 'sums'], 'tests/a.test.js')).toEqual({
      ...{ text: 'tests/a.test.js', added_to_command: "'tests/a.test.js'", tests_run: 2, tests_matching: null },
    })
    expect(about(['adds', 'sums'], 'tests/a.test.js', 'tests/a.test.js')).toMatchObject({ tests_matching: 2 })
    expect(about(['adds', 'sums'], 'cart')).toMatchObject({
      ...{
        tests_matching: null,
        note: expect.stringContaining('Whether the filter selected 2 tests that ran is not known'),
      },
    })
    expect(about(['adds', 'sums'], 'adds')).toMatchObject({ tests_matching: 1 })
  })

  it('[REQ-RUNTESTS-3] a package that does not build is named beside the failed tests', () => {
    const broken = { file: 'mux', kind: 'build', module: null, message: 'undefined: URLParamInt' } as const
    expect(answer(run(['a.TestA'], { exitCode: 1, loadFailures: [broken as never] }))).toMatchObject({
      ...{ passed: 1, failed: 0, not_loaded: 1, failures_total: 1 },
      failures: [{ id: 'mux', message: 'undefined: URLParamInt' }],
    })
    expect(answer(run(['a.TestA']))).not.toHaveProperty('not_loaded')
  })
})
