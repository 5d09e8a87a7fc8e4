import { describe, expect, it } from 'vitest'
import { judgePassing, judgeSkipped } from '../../src/checks/red-green/green-run.js'
import { judgeRed, type RedInputs } from '../../src/checks/red-green/red-run.js'
import { readReport } from '../../src/checks/reports/read-report.js'
import { explainCommandFailed, explainNoCounts, explainRun } from '../../src/checks/reports/run-trouble.js'
import type { Baseline, ObservedLoadFailure, ObservedRun } from '../../src/core/evidence/observed-run.js'

const RUN: ObservedRun = {
  name: 'tests',
  command: 'npm test',
  exitCode: 1,
  counts: { passed: 1, failed: 0, skipped: 0 },
  tests: [],
  isComplete: true,
  loadFailures: [],
  coverage: null,
  wasStopped: false,
  problem: null,
  durationMs: 1,
  treeHash: 'none',
}

function notLoaded(file: string | null, message: string): ObservedLoadFailure {
  return { file, kind: 'other', message }
}

describe('the message about test files without results', () => {
  it.each([
    [[notLoaded('tests/a.test.js', 'test failed')], '1 test file did not run its tests: tests/a.test.js (test failed)'],
    [[notLoaded(null, 'Cannot find module')], '1 test file did not run its tests (Cannot find module)'],
    [
      [notLoaded('a.test.js', ''), notLoaded('b.test.js', 'test failed')],
      '2 test files did not run their tests: a.test.js, b.test.js',
    ],
  ])('[REQ-BYHAND-2] %j is told by name and number', (loadFailures, message) => {
    expect(judgePassing({ ...RUN, loadFailures }, { pinned: null, baseline: null })).toMatchObject({
      result: 'fails',
      found: message,
    })
  })
})

describe('the message about a RED run in which no test failed', () => {
  const none = { ...RUN, counts: { passed: 0, failed: 0, skipped: 0 } }
  const judge = (run: ObservedRun, baseline: Baseline | null = null) => judgeRed(run, { baseline } as RedInputs)

  it.each([
    [[], 'no test failed (0 passed, 0 failed)'],
    [
      [notLoaded('test/c.test.js', 'Error: set me up first'), notLoaded('test/d.test.js', '')],
      'no test failed (0 passed, 0 failed); 2 files did not load, which counts only where code is missing: test/c.test.js (Error: set me up first), test/d.test.js (no error was reported)',
    ],
    [
      [notLoaded(null, 'Bail out! no database')],
      'no test failed (0 passed, 0 failed); 1 file did not load, which counts only where code is missing: a file that the runner does not name (Bail out! no database)',
    ],
  ])('[REQ-BYHAND-2] names the files that did not load, each with its error: %j', async (loadFailures, found) => {
    expect(await judge({ ...none, loadFailures })).toMatchObject({ result: 'fails', found })
  })

  it('[REQ-BYHAND-2] says which of them did not load before the task either', async () => {
    const loadFailures = [notLoaded('test/c.test.js', 'Error: set me up first')]
    const baseline = {
      tests: [],
      flaky: [],
      ...{ counts: none.counts, isComplete: true, loadFailures, exitCode: 1, reason: null },
    }
    expect(await judge({ ...none, loadFailures }, baseline)).toMatchObject({
      found: expect.stringContaining('test/c.test.js (Error: set me up first; as before the task)'),
    })
  })

  it('[REQ-BYHAND-2] a file that waits for code is a failing test, as before', async () => {
    const loadFailures: readonly ObservedLoadFailure[] = [
      { file: 'test/a.test.js', kind: 'missing_module', message: "Cannot find module '../src/a.js'" },
    ]
    expect(await judge({ ...none, loadFailures })).toMatchObject({ result: 'holds' })
  })
})

describe('the words about skipped tests', () => {
  const skipped = { id: 'slow', name: 'slow', file: null, status: 'skipped', message: '' } as const
  const run = { ...RUN, exitCode: 0, counts: { passed: 1, failed: 0, skipped: 1 }, tests: [skipped] }
  const baseline = {
    tests: [skipped],
    flaky: [],
    counts: run.counts,
    isComplete: true,
    loadFailures: [],
    exitCode: 0,
    reason: null,
  }

  it('[REQ-READS-1] a skip that is new is refused, and one from before the task is counted as such', () => {
    expect(judgeSkipped(run, { pinned: null, baseline: null }, [])).toMatchObject({
      result: 'fails',
      found: '1 skipped: slow',
    })
    expect(judgeSkipped(run, { pinned: null, baseline }, [])).toMatchObject({
      result: 'holds',
      found: 'none skipped by the task; 1 was skipped before it',
      notes: ['Skipped before the task too: slow'],
    })
    expect(judgeSkipped(RUN, { pinned: null, baseline: null }, [])).toMatchObject({ found: 'none skipped' })
  })
})

it('[REQ-DEADEND-2] without counts the remedy names -json for go test, and a step before the tests for everything else', () => {
  const remedyOf = (stdout: string): string => {
    const reading = readReport({ format: 'auto', stdout, stderr: '', reportText: null, exitCode: 0 })
    return explainNoCounts(reading.result === 'unreadable' ? reading.reason : '').remedy
  }
  expect(remedyOf('ok  \texample.org/adder\t0.01s\n')).toContain('go test -json')
  expect(remedyOf('[warn] tests/a.test.ts\n')).toContain('If a step before the tests failed')
})

describe('a linter before the tests', () => {
  it.each([
    ['eslint', '/work/src/a.js\n  1:7  error  unused\n\n✖ 1 problem (1 error, 0 warnings)\n'],
    [
      'prettier',
      '[warn] src/a.js\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.\n',
    ],
    ['biome', 'Checked 3 files in 4ms. No fixes applied.\nFound 2 errors.\n'],
    ['ruff', 'src/a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n'],
    ['flake8', 'src/a.py:1:1: F401 os imported but unused\n'],
    ['mypy', 'Found 1 error in 1 file (checked 2 source files)\n'],
    ['black', 'would reformat src/a.py\nOh no!\n1 file would be reformatted.\n'],
    ['cargo fmt', 'Diff in /work/src/lib.rs:1:\n-fn  a() {}\n+fn a() {}\n'],
    [
      'a script that is called so',
      '> adder@1.0.0 test\n> npm run lint && x\n> adder@1.0.0 lint\n> node own.mjs\nlong line\n',
    ],
  ])('[REQ-DEADEND-2] %s is told as such, and the agent can mend it', (_, stdout) => {
    const run = { exitCode: 1, stopped: null, timeoutSeconds: 60, stdout, stderr: '', redact: String } as const
    expect(explainRun(run, explainNoCounts('nothing'))).toMatchObject({ cause: 'a linter failed', mendedBy: 'agent' })
  })

  it('[REQ-DEADEND-2] other output is not mistaken for a linter', () => {
    const run = { exitCode: 1, stopped: null, timeoutSeconds: 60, stderr: '', redact: String } as const
    const stdout = '> adder@1.0.0 lint\n> eslint .\n> adder@1.0.0 test\n> own-runner\n3 wrong\n'
    expect(explainRun({ ...run, stdout }, explainCommandFailed(1)).cause).toBe('the command failed')
  })
})
