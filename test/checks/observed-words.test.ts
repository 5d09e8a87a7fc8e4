import { describe, expect, it } from 'vitest'
import { judgePassing } from '../../src/checks/red-green/green-run.js'
import { readReport } from '../../src/checks/reports/read-report.js'
import { explainNoCounts } from '../../src/checks/reports/run-trouble.js'
import type { ObservedLoadFailure, ObservedRun } from '../../src/core/evidence/observed-run.js'

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

describe('what agents are told of test files without results', () => {
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

it('[REQ-DEADEND-2] without counts the remedy names -json for go test, and a step before the tests for everything else', () => {
  const remedyOf = (stdout: string): string => {
    const reading = readReport({ format: 'auto', stdout, stderr: '', reportText: null, exitCode: 0 })
    return explainNoCounts(reading.result === 'unreadable' ? reading.reason : '').remedy
  }
  expect(remedyOf('ok  \texample.org/adder\t0.01s\n')).toContain('go test -json')
  expect(remedyOf('[warn] tests/a.test.ts\n')).toContain('If a step before the tests failed')
})
