import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStage, type Stage } from './stage.js'

const RUN_MS_MAX = 300_000
const PATH = 'tests/test_add.py'
const UNITTEST = { run: 'python3 -m unittest discover -v -s tests -t .' }
// Longer than a run may take whose files are turned around as a whole.
const OLD = `import time
import unittest

class TestOld(unittest.TestCase):
    def test_slow(self):
        time.sleep(12)
        self.assertEqual(time.sleep(0), None)
`
const NEW = (body: string) => `

class TestAdd(unittest.TestCase):
    def test_adds(self):
        from add import add
${body}`

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.end(), RUN_MS_MAX)

describe('new tests in a file with old ones that take long', () => {
  it(
    '[REQ-TWINS-6] only the new ones are run and turned around: one that cannot fail blocks, an honest one is proved',
    async () => {
      const task = await stage.task({ [PATH]: OLD, 'tests/__init__.py': '' }, UNITTEST)
      const vacuous =
        '        try:\n            self.assertEqual(add(2, 3), 5)\n        except AssertionError:\n            pass\n'
      await task.write({ [PATH]: OLD + NEW(vacuous) })
      await task.red({ [PATH]: ['AC-1'] })
      await task.write({ 'add.py': 'def add(a, b):\n    return a + b\n' })
      const [blocked] = await task.green()
      expect(blocked?.message).toContain('TestAdd.test_adds still passes')
      await task.back()
      await task.write({ [PATH]: OLD + NEW('        self.assertEqual(add(2, 3), 5)\n') })
      await task.red({ [PATH]: ['AC-1'] })
      expect(await task.green()).toEqual([])
      const { inverted } = await task.ran()
      expect(inverted).toMatchObject({ proved: 1, new_proved: 1, survived: 0, not_judged: 0, no_evidence: 0 })
    },
    RUN_MS_MAX,
  )
})
