import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from './process.js'
import { type Files, makeRepository } from './projects.js'
import { implementation, REVIEW, testFiles, Walker } from './walker.js'

const WALK_MS_MAX = 300_000
const BUNDLED = new URL('../../contracts/tdd.yaml', import.meta.url)
const PROJECT: Files = {
  'package.json': `${JSON.stringify({ name: 'carts', type: 'module', scripts: { test: 'node --test' } })}\n`,
}
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`
const SUM = 'export const sum = (prices) => prices.reduce((all, one) => all + one, 0)\n'

describe('who reviews the work', () => {
  let place: Place
  let server: Served
  let byOther = ''
  let count = 0

  beforeAll(async () => {
    place = await makePlace()
    makeRepository(place.workspace, PROJECT)
    const text = readFileSync(BUNDLED, 'utf8').replace(
      '  - id: REVIEW\n',
      '  - id: REVIEW\n    review: { by: other }\n',
    )
    const file = join(place.dir, 'other.yaml')
    writeFileSync(file, text.replace('name: tdd', 'name: reviewed'))
    server = await serve(place, 'tdd')
    const added = await server.call('POST', '/contracts', server.operator, { source: readFileSync(file, 'utf8') })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    byOther = String(added.body.hash)
  }, WALK_MS_MAX)
  afterAll(async () => {
    await server?.stop()
    place?.remove()
  })

  async function inReview(more: Record<string, unknown> = {}): Promise<Walker> {
    count += 1
    const workspace = join(place.dir, `tree-${count}`)
    makeRepository(workspace, PROJECT)
    const agent = await Walker.claim(server, `review-${count}`, { workspace, ...more })
    await agent.plan()
    await agent.does('write_files', { path: 'tests/sum.test.js', content: TEST })
    await agent.enters('IMPL', testFiles('tests/sum.test.js'))
    await agent.does('write_files', { path: 'src/sum.js', content: SUM })
    await agent.enters('REVIEW', implementation('src/sum.js'))
    return agent
  }

  it(
    "[REQ-REVIEWOTHER-1] with review by other the agent's own report opens nothing, and a person approves what changed",
    async () => {
      const agent = await inReview({ contract: byOther })
      const asked = await agent.move('COMPLETE', REVIEW)
      expect(asked).toMatchObject({ allowed: false, pending_approval: {} })
      const { id, digest } = asked.pending_approval as { id: string; digest: string }
      const answer = { decision: 'approve', digest }
      expect(await server.call('POST', `/approvals/${id}/decision`, agent.token, answer)).toMatchObject({ status: 403 })
      expect(await agent.move('COMPLETE', REVIEW)).toMatchObject({ allowed: false })
      const shown = await server.call('GET', `/approvals/${id}`, server.operator)
      expect(shown.body).toMatchObject({ gate: 'independent_review', approvers: ['human'] })
      const contents = shown.body.contents as Record<string, Record<string, unknown>>
      expect(contents.changes_to_review?.changes).toMatchObject([
        { path: 'src/sum.js', change: 'created', diff: expect.stringContaining('+export const sum') },
        { path: 'tests/sum.test.js', change: 'created' },
      ])
      expect(contents.changes_to_review?.checks).toContainEqual(
        expect.objectContaining({ check: 'no_blocking_issues', result: 'holds' }),
      )
      expect(shown.body.artifacts).toContainEqual(
        expect.objectContaining({ type: 'review_report', grade: 'reported', self_review: true }),
      )
      await server.call('POST', `/approvals/${id}/decision`, server.operator, answer)
      await agent.finish('Sum up prices')
      const report = await server.call('GET', `/runs/${agent.task}/report`, server.operator)
      const { by_gate } = report.body.gates as { by_gate: { gate: string; passed: number }[] }
      const opened = by_gate.filter(({ passed }) => passed > 0).map(({ gate }) => gate)
      expect(opened).toEqual(expect.arrayContaining(['tests_written', 'review_approved', 'independent_review']))
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-REVIEWOTHER-2] without it the report counts as before, and is marked as a review by the agent itself',
    async () => {
      const agent = await inReview()
      const passed = await agent.enters('COMPLETE', REVIEW)
      const marked = expect.objectContaining({ type: 'review_report', grade: 'reported', self_review: true })
      expect(passed.artifacts).toContainEqual(marked)
      expect((passed.artifacts as Record<string, unknown>[]).filter((one) => one.self_review === true)).toHaveLength(1)
      const { body } = await server.call('GET', `/tasks/${agent.task}/timeline?limit=500`, server.operator)
      const events = body.events as { type: string; data: Record<string, unknown> }[]
      const entered = events.filter((event) => event.type === 'phase_entered').at(-1)
      expect(JSON.stringify(entered?.data)).toMatch(/"self_?[rR]eview":true/)
      const artifact = await server.call('GET', `/tasks/${agent.task}/artifacts/review_report`, server.operator)
      expect(artifact.body).toMatchObject({ self_review: true })
    },
    WALK_MS_MAX,
  )

  it('[REQ-REVIEWOTHER-3] a contract says by whom in words that are known', async () => {
    const text = readFileSync(BUNDLED, 'utf8').replace('  - id: REVIEW\n', '  - id: REVIEW\n    review: { by: me }\n')
    const added = await server.call('POST', '/contracts', server.operator, { source: text })
    expect(added.status).toBe(400)
    expect(JSON.stringify(added.body)).toContain("'me' is not a known by")
  })
})
