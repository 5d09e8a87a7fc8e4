import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isFullDepth } from '../depth.js'
import { makePlace, type Place, type Served, serve } from './process.js'
import { type Files, makeRepository } from './projects.js'
import { implementation, testFiles, Walker } from './walker.js'

const WALK_MS_MAX = 300_000
const BUNDLED = new URL('../../contracts/tdd.yaml', import.meta.url)

const PROJECT: Files = {
  'package.json': `${JSON.stringify({ name: 'carts', type: 'module', scripts: { test: 'node --test' } })}\n`,
  'src/price.js': 'export const cents = (euros) => euros * 100\n',
  'tests/price.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cents } from '../src/price.js'

test('a price has cents', () => assert.equal(cents(2), 200))
`,
}
const TEST = 'tests/sum.test.js'
const testOf = (expected: number): string => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cents } from '../src/price.js'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), ${expected}))
test('a price is rounded', () => assert.equal(cents(0.015), 2))
`
const SUM = 'export const sum = (prices) => prices.reduce((all, one) => all + one, 0)\n'
const ROUNDED = 'export const cents = (euros) => Math.round(euros * 100)\n'

/** The observed runs that the ledger names, oldest first. */
async function observedRuns(agent: Walker): Promise<readonly Record<string, unknown>[]> {
  const { body } = await agent.server.call('GET', `/tasks/${agent.task}/timeline?limit=500`, agent.server.operator)
  const events = body.events as { type: string; data: { observed?: Record<string, unknown>[] } }[]
  return events.flatMap(({ type, data }) => (type === 'transition_requested' ? (data.observed ?? []) : []))
}

describe('the way back from code to tests', () => {
  let place: Place
  let server: Served
  let count = 0

  beforeAll(async () => {
    place = await makePlace()
    const contract = join(place.dir, 'tdd.yaml')
    writeFileSync(contract, readFileSync(BUNDLED, 'utf8'))
    makeRepository(place.workspace, PROJECT)
    server = await serve(place, contract)
  }, WALK_MS_MAX)
  afterAll(async () => {
    await server?.stop()
    place?.remove()
  })

  /** In IMPL, with a test that expects too much and code that is right. */
  async function withWrongTest(): Promise<{ readonly agent: Walker; readonly tree: string }> {
    count += 1
    const tree = join(place.dir, `tree-${count}`)
    makeRepository(tree, PROJECT)
    const agent = await Walker.claim(server, `carts-${count}`, { workspace: tree })
    await agent.plan()
    await agent.does('write_files', { path: TEST, content: testOf(13) })
    await agent.enters('IMPL', testFiles(TEST))
    await agent.does('write_files', { path: 'src/sum.js', content: SUM })
    await agent.does('write_files', { path: 'src/price.js', content: ROUNDED })
    return { agent, tree }
  }

  it(
    '[REQ-BACK-1] a test that turns out wrong in IMPL is corrected in TDD, seen failing again without the code, and the task completes',
    async () => {
      const { agent, tree } = await withWrongTest()
      const blocked = await agent.refused('REVIEW', implementation('src/sum.js', 'src/price.js'))
      expect(blocked.map((one) => one.check)).toContain('all_tests_pass')
      expect(await agent.goBack('TDD', 'another_claim')).toMatchObject({ allowed: false })
      expect(await agent.goBack('TDD', 'tests_need_change')).toMatchObject({ allowed: true, phase: 'TDD' })
      expect((await agent.use('write_files', { path: 'src/sum.js', content: '' })).status).toBe(403)
      await agent.does('write_files', { path: TEST, content: testOf(12) })
      // With the code that is in the tree everything passes.
      expect(await agent.does('run_tests', {})).toMatchObject({ failed: 0 })
      await agent.enters('IMPL', testFiles(TEST))
      const runs = await observedRuns(agent)
      expect(runs.at(-1)).toMatchObject({ name: 'tests', code: 'at_start' })
      expect(Number(runs.at(-1)?.exit_code)).not.toBe(0)
      expect(runs.filter((run) => run.code === 'at_start')).toHaveLength(1)
      expect(readFileSync(join(tree, 'src/sum.js'), 'utf8')).toBe(SUM)
      expect(readFileSync(join(tree, 'src/price.js'), 'utf8')).toBe(ROUNDED)
      // The tests are pinned as they are now.
      expect((await agent.use('write_files', { path: TEST, content: testOf(13) })).status).toBe(403)
      await agent.enters('REVIEW', implementation('src/sum.js', 'src/price.js'))
      await agent.finish('Sum up prices')
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-BACK-2] a test that passes without the code does not open the gate on the way back either',
    async () => {
      const { agent, tree } = await withWrongTest()
      await agent.goBack('TDD', 'tests_need_change')
      const empty = `import { test } from 'node:test'\n\ntest('prices are summed up', () => undefined)\n`
      await agent.does('write_files', { path: TEST, content: empty })
      const blockers = await agent.refused('IMPL', testFiles(TEST))
      expect(blockers.map((one) => one.check)).toContain('tests_are_failing')
      expect(existsSync(join(tree, 'src/sum.js'))).toBe(true)
      // The honest one does.
      await agent.does('write_files', { path: TEST, content: testOf(12) })
      await agent.enters('IMPL', testFiles(TEST))
    },
    WALK_MS_MAX,
  )

  it.runIf(isFullDepth())(
    '[REQ-BACK-3] test setup that was changed in IMPL is not pinned by going back',
    async () => {
      const { agent, tree } = await withWrongTest()
      const before = readFileSync(join(tree, 'package.json'), 'utf8')
      const rigged = before.replace('node --test', 'node --test || test -e src/sum.js')
      await agent.does('write_files', { path: 'package.json', content: rigged })
      const refused = await agent.goBack('TDD', 'tests_need_change')
      expect(refused).toMatchObject({ allowed: false, phase: 'IMPL' })
      expect(JSON.stringify(refused.blockers)).toContain(
        'package.json (scripts.test) changed since the previous RED run',
      )
      await agent.does('write_files', { path: 'package.json', content: before })
      expect(await agent.goBack('TDD', 'tests_need_change')).toMatchObject({ allowed: true })
    },
    WALK_MS_MAX,
  )

  it.runIf(isFullDepth())(
    '[REQ-BACK-1] a review asks for other tests, and the task completes after they were seen failing',
    async () => {
      const { agent } = await withWrongTest()
      await agent.goBack('TDD', 'tests_need_change')
      await agent.does('write_files', { path: TEST, content: testOf(12) })
      await agent.enters('IMPL', testFiles(TEST))
      await agent.enters('REVIEW', implementation('src/sum.js'))
      expect(await agent.goBack('TDD', 'tests_requested')).toMatchObject({ allowed: true, phase: 'TDD' })
      const more = `${testOf(12)}test('nothing costs nothing', () => assert.equal(sum([]), 0))\n`
      await agent.does('write_files', { path: TEST, content: more })
      await agent.enters('IMPL', testFiles(TEST))
      await agent.enters('REVIEW', implementation('src/sum.js'))
      await agent.finish('Sum up prices')
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-BACK-4] a task that goes in circles between code and tests is parked, and goes on when an operator resumes it',
    async () => {
      const { agent } = await withWrongTest()
      for (let round = 0; round < 10; round += 1) {
        expect(await agent.goBack('TDD', 'tests_need_change')).toMatchObject({ allowed: true })
        await agent.enters('IMPL', testFiles(TEST))
      }
      const refused = await agent.goBack('TDD', 'tests_need_change')
      expect(refused).toMatchObject({ allowed: false, phase: 'IMPL' })
      expect(JSON.stringify(refused.blockers)).toContain('went back from IMPL to TDD 10 times')
      const parked = await server.call('GET', `/tasks/${agent.task}`, server.operator)
      expect(parked.body).toMatchObject({ status: 'parked', phase: 'IMPL' })
      const resumed = await server.call('POST', `/tasks/${agent.task}/resume`, server.operator, { reason: 'looked at' })
      expect(resumed.status).toBe(200)
    },
    WALK_MS_MAX,
  )
})
