import { describe, expect, it } from 'vitest'
import { canBeCompared, findFirstMissing } from '../../src/checks/test-files/declared-tests.js'
import type { ObservedRun } from '../../src/core/evidence/observed-run.js'

const runOf = (...tests: readonly (readonly [string, string | null])[]): ObservedRun => ({
  ...{ name: 'tests', command: 'go test -v ./...', exitCode: 0, coverage: null, wasStopped: false, problem: null },
  ...{ isComplete: true, loadFailures: [], durationMs: 1, treeHash: '' },
  counts: { passed: tests.length, failed: 0, skipped: 0 },
  tests: tests.map(([id, file]) => ({ id, file, status: 'passed', message: null })),
})
const GO = {
  path: 'sum/sum_test.go',
  text: 'package sum\n\nfunc TestAdds(t *testing.T) {}\n\nfunc (s *Suite) TestInSuite() {}\n\nfunc Testimony() {}\n',
  tests: [
    { name: 'TestAdds', line: 3 },
    { name: 'TestInSuite', line: 5 },
    { name: 'Testimony', line: 7 },
  ],
}
const RUST = { path: 'tests/sum.rs', text: '#[test]\nfn adds() {}\n', tests: [{ name: 'adds', line: 2 }] }

describe('tests that the sources declare', () => {
  it('[REQ-FORGED-3] a report that has others of the package and not this one is not believed', () => {
    expect(findFirstMissing(runOf(['example.org/a/sum > TestOther', null]), [GO])).toBe('sum/sum_test.go:3 TestAdds')
    expect(findFirstMissing(runOf(['other', 'tests/sum.rs']), [RUST])).toBe('tests/sum.rs:2 adds')
  })

  it('[REQ-FORGED-3] parts of tests, suites, other packages and incomplete reports are fine', () => {
    expect(
      findFirstMissing(runOf(['example.org/a/sum > TestAdds', null], ['example.org/a/sum > TestAdds/one', null]), [GO]),
    ).toBeNull()
    expect(findFirstMissing(runOf(['example.org/a/checksum > TestOther', null]), [GO])).toBeNull()
    expect(findFirstMissing(runOf(['adds', 'tests/sum.rs']), [RUST])).toBeNull()
    expect(findFirstMissing(runOf(['other', 'tests/else.rs']), [RUST])).toBeNull()
    expect(findFirstMissing({ ...runOf(['example.org/a/sum > TestOther', null]), isComplete: false }, [GO])).toBeNull()
  })

  it.each([
    ['go test -v ./...', 'sum_test.go', 'package sum\n', true],
    ['go test -json -race -count=1 ./...', 'sum_test.go', 'package sum\n', true],
    ['go test -v -run TestAdds ./...', 'sum_test.go', 'package sum\n', false],
    ['make test', 'sum_test.go', 'package sum\n', false],
    ['go test -v ./... | tee log', 'sum_test.go', 'package sum\n', false],
    ['go test -v ./...', 'sum_windows_test.go', 'package sum\n', false],
    ['go test -v ./...', 'sum_test.go', '//go:build integration\n\npackage sum\n', false],
    ['cargo test', 'tests/sum.rs', '', true],
    ['cargo test --offline', 'tests/sum.rs', '', true],
    ['cargo test adds', 'tests/sum.rs', '', false],
    ['cargo test -- --skip adds', 'tests/sum.rs', '', false],
    ['cargo test', 'tests/sum.rs', '#[cfg(feature = "big")]\n', false],
    ['cargo test', 'src/sum.rs', '', false],
    ['cargo test', 'sum_test.go', '', false],
  ])(
    '[REQ-FORGED-3] with %j, %s is compared only where nothing decides which tests run (%j)',
    (run, path, text, isCompared) => {
      expect(canBeCompared(run, { path, text })).toBe(isCompared)
    },
  )
})
