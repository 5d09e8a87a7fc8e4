import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from './process.js'
import { makeRepository } from './projects.js'
import { implementation, PLAN, Walker } from './walker.js'

const WALK_MS_MAX = 300_000
const BUNDLED = fileURLToPath(new URL('../../contracts/tdd.yaml', import.meta.url))

const PROJECT = {
  'package.json': `${JSON.stringify({ name: 'carts', type: 'module', scripts: { test: 'node --test' } })}\n`,
  'src/price.js': 'export const cents = (euros) => euros * 100\n',
}
const TEST = 'tests/sum.test.js'
const SUMS = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`
const ROUNDING = 'tests/rounding.test.js'
const roundingTest = (call: string, expected: number): string => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cents } from '../src/price.js'

test('a price is rounded to cents', () => assert.equal(${call}, ${expected}))
`
const SUM = 'export const sum = (prices) => prices.reduce((all, one) => all + one, 0)\n'
const ROUNDED = 'export const cents = (euros) => Math.round(euros * 100)\n'

describe('criteria on the way back from code to tests', () => {
  let place: Place
  let server: Served

  beforeAll(async () => {
    place = await makePlace()
    makeRepository(place.workspace, PROJECT)
    server = await serve(place, BUNDLED)
  }, WALK_MS_MAX)
  afterAll(async () => {
    await server?.stop()
    place?.remove()
  })

  it(
    '[REQ-BACK-5] a criterion whose test was not touched in the later visit counts; one whose corrected test passes with the starting code is named',
    async () => {
      const agent = await Walker.claim(server, 'carts')
      const rounded = { id: 'AC2', criterion: 'A price is rounded', how_to_verify: 'a unit test' }
      const criteria = [...PLAN.acceptance_criteria, rounded]
      await agent.isLetInto('TDD', { plan_document: { ...PLAN, acceptance_criteria: criteria } })
      const offered = {
        test_files: {
          test_files: [
            { path: TEST, covers: ['AC1'] },
            { path: ROUNDING, covers: ['AC2'] },
          ],
        },
      }
      const write = (path: string, content: string) => agent.does('write_files', { path, content })
      await write(TEST, SUMS)
      await write(ROUNDING, roundingTest('cents(0.015)', 3))
      await agent.enters('IMPL', offered)
      await write('src/sum.js', SUM)
      await write('src/price.js', ROUNDED)
      expect(await agent.goBack('TDD', 'tests_need_change')).toMatchObject({ allowed: true })
      // It passes with the code that the task started from, so that it shows nothing of this task.
      await write(ROUNDING, roundingTest('cents(2)', 200))
      const refused = JSON.stringify(await agent.refused('IMPL', offered))
      expect(refused).toContain(
        `no new test fails for \\"AC2\\": ${ROUNDING}: a price is rounded to cents already passes`,
      )
      expect(refused).not.toContain('AC1')
      await write(ROUNDING, roundingTest('cents(0.015)', 2))
      await agent.enters('IMPL', offered)
      await agent.enters('REVIEW', implementation('src/sum.js', 'src/price.js'))
      await agent.finish('Sum up and round prices')
    },
    WALK_MS_MAX,
  )
})
