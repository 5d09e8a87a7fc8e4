import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runTests } from './guards-run.js'

const HAS_PYTEST = spawnSync('python3', ['-c', 'import pytest']).status === 0
// Their difference takes minutes.
const LARGE = 'large = [[5] * 500, [6] * 500]\n'
const RUN_MS_MAX = 60_000

const UNITTEST = `import unittest
${LARGE}
class Large(unittest.TestCase):
    def test_large(self):
        self.assertEqual(*large)
`
// The code under test gets whole differences.
const PYTEST = `import difflib
${LARGE}
def test_large():
    assert large[0] == large[1]

def test_own_difference():
    lines = [["%d a" % n for n in range(60)], ["%d b" % n for n in range(60)]]
    assert len(list(difflib.ndiff(*lines))) > 120
`

describe('comparisons of large values that fail', () => {
  it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    '[REQ-GUARD-9] are not explained for minutes in unittest',
    () => {
      const argv = ['python3', '-m', 'unittest', '-v']
      const pinned = ['test_large.Large.test_large']
      const run = runTests({ files: { 'test_large.py': UNITTEST }, argv, format: 'pytest', pinned }, 'guarded')
      expect(run.isGreen).toBe(false)
      expect(run.text).toContain('more lines')
    },
    RUN_MS_MAX,
  )

  it.skipIf(!HAS_PYTEST)(
    '[REQ-GUARD-9] nor in pytest (skipped where pytest is not installed)',
    () => {
      const argv = ['python3', '-m', 'pytest', '-v', '-p', 'no:cacheprovider']
      const pinned = ['test_large.py::test_large', 'test_large.py::test_own_difference']
      const run = runTests({ files: { 'test_large.py': PYTEST }, argv, format: 'pytest', pinned }, 'guarded')
      expect(run.text).toMatch(/test_own_difference PASSED/)
      expect(run.text).toMatch(/test_large FAILED/)
    },
    RUN_MS_MAX,
  )
})
