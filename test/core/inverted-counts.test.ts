import { expect, it } from 'vitest'
import { type JudgedTest, toInvertedView } from '../../src/core/evidence/inverted-run.js'

const judged = (id: string, line: number | null, about: Partial<JudgedTest> = {}): JudgedTest => ({
  ...{ id, file: 'url_test.go', line, verdict: 'proved', reason: null },
  ...about,
})
const count = (tests: readonly JudgedTest[]) => toInvertedView({ tests, problem: null, durationMs: 1 }, 0)

it('[REQ-TWINS-15] new tests are counted as they are written: no old ones, and subtests with their test', () => {
  const tests = [
    judged('mux.TestOld', 3, { isOld: true }),
    ...['mux.TestInt', 'mux.TestInt/zero', 'mux.TestInt/text'].map((id) => judged(id, 9)),
    judged('mux.TestMore', 30),
    judged('mux.TestGone', null),
  ]
  expect(count(tests)).toMatchObject({ proved: 6, new_proved: 3, new_survived: 0 })
})

it('[REQ-TWINS-15] a test with one subtest that survived is not proved', () => {
  const tests = [judged('mux.TestInt/zero', 9), judged('mux.TestInt/text', 9, { verdict: 'survived', reason: 'x' })]
  expect(count(tests)).toMatchObject({ proved: 1, survived: 1, new_proved: 0, new_survived: 1 })
  expect(count([judged('a', 1, { verdict: 'not_judged' }), judged('b', 1)])).toMatchObject({
    ...{ new_not_judged: 1, new_proved: 0 },
  })
})
