import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from './process.js'
import { type Files, makeRepository } from './projects.js'
import { implementation, testFiles, Walker } from './walker.js'

const WALK_MS_MAX = 300_000
const PROJECT: Files = {
  'package.json': `${JSON.stringify({ name: 'carts', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'src/price.js': 'export const cents = (euros) => euros * 100\n',
}
const TEST = 'tests/sum.test.js'
const TEST_TEXT = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`
const SUM = 'export const sum = (prices) => prices.reduce((all, one) => all + one, 0)\n'

describe('test setup that has to change after RED', () => {
  let place: Place
  let server: Served
  let count = 0

  beforeAll(async () => {
    place = await makePlace()
    makeRepository(place.workspace, PROJECT)
    server = await serve(place, 'tdd')
  }, WALK_MS_MAX)
  afterAll(async () => {
    await server?.stop()
    place?.remove()
  })

  /** In IMPL, with the code written and the script that runs the tests changed. */
  async function withChangedScript(script: string) {
    count += 1
    const tree = join(place.dir, `tree-${count}`)
    makeRepository(tree, PROJECT)
    const agent = await Walker.claim(server, `setup-${count}`, { workspace: tree })
    await agent.plan()
    await agent.does('write_files', { path: TEST, content: TEST_TEXT })
    await agent.enters('IMPL', testFiles(TEST))
    await agent.does('write_files', { path: 'src/sum.js', content: SUM })
    const before = readFileSync(join(tree, 'package.json'), 'utf8')
    const change = (to: string): Promise<unknown> =>
      agent.does('write_files', { path: 'package.json', content: before.replace('"node --test"', JSON.stringify(to)) })
    await change(script)
    const ask = (paths = ['package.json']) => agent.use('request_setup_change', { paths, reason: 'one at a time' })
    const decide = async (decision: 'approve' | 'reject', asked: Record<string, unknown>, token = server.operator) => {
      const { approval_id: id, digest } = asked.result as { approval_id: string; digest: string }
      const comment = 'looked at it'
      return server.call('POST', `/approvals/${id}/decision`, token, { decision, digest, comment })
    }
    const green = () => agent.move('REVIEW', implementation('src/sum.js'))
    return { agent, tree, before, change, ask, decide, green }
  }

  const HONEST = 'node --test --test-concurrency=1'

  it(
    '[REQ-SETUP-1] approved setup is pinned once the tests were seen failing under it, and the task completes',
    async () => {
      const { agent, ask, decide, green } = await withChangedScript(HONEST)
      expect(JSON.stringify((await green()).blockers)).toContain(
        'package.json (scripts.test) changed since the RED run',
      )
      const asked = await ask()
      expect(asked.body.result).toMatchObject({ status: 'pending', paths: ['package.json'] })
      const { approval_id: id } = asked.body.result as { approval_id: string }
      // Asked again it is the same request.
      expect((await ask()).body.result).toMatchObject({ status: 'pending', approval_id: id })
      const shown = await server.call('GET', `/approvals/${id}`, server.operator)
      const { setup_change: content } = shown.body.contents as Record<string, { files: { diff: string }[] }>
      expect(content).toMatchObject({ reason: 'one at a time' })
      expect(content?.files[0]?.diff).toContain(`+    "test": "${HONEST}"`)
      expect((await decide('approve', asked.body)).status).toBe(200)
      // An approval alone pins nothing.
      expect(await green()).toMatchObject({ allowed: false })
      expect((await ask()).body.result).toMatchObject({ status: 'accepted', paths: ['package.json'] })
      expect(await green()).toMatchObject({ allowed: true, phase: 'REVIEW' })
      await agent.finish('Sum up prices')
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-SETUP-2] an agent cannot approve its own request',
    async () => {
      const { agent, ask, decide, green } = await withChangedScript(HONEST)
      const asked = await ask()
      expect(await decide('approve', asked.body, agent.token)).toMatchObject({ status: 403 })
      expect((await ask()).body.result).toMatchObject({ status: 'pending' })
      expect(await green()).toMatchObject({ allowed: false })
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-SETUP-3] what is changed after the approval is not approved',
    async () => {
      const { change, ask, decide, green } = await withChangedScript(HONEST)
      const asked = await ask()
      await decide('approve', asked.body)
      await change('node --test || true')
      const again = await ask()
      expect(again.body.result).toMatchObject({ status: 'pending' })
      expect((again.body.result as { digest: string }).digest).not.toBe(
        (asked.body.result as { digest: string }).digest,
      )
      expect(await green()).toMatchObject({ allowed: false })
      // What was approved counts once it is there again, and only that.
      await change(HONEST)
      expect((await ask()).body.result).toMatchObject({ status: 'accepted' })
      await change('node --test || true')
      expect(await green()).toMatchObject({ allowed: false })
      await change(HONEST)
      expect(await green()).toMatchObject({ allowed: true })
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-SETUP-4] setup under which the tests do not fail without the code is not pinned, even if it was approved',
    async () => {
      const { ask, decide, green } = await withChangedScript('node --test || true')
      await decide('approve', (await ask()).body)
      const refused = await ask()
      expect(refused.status).toBe(400)
      expect(String(refused.body.detail)).toContain('do not fail without the code')
      expect(await green()).toMatchObject({ allowed: false })
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-SETUP-5] rejected setup has to be put back',
    async () => {
      const { ask, decide, green, change } = await withChangedScript(HONEST)
      await decide('reject', (await ask()).body)
      expect((await ask()).body.result).toMatchObject({ status: 'rejected', comment: 'looked at it' })
      expect(await green()).toMatchObject({ allowed: false })
      await change('node --test')
      expect(await green()).toMatchObject({ allowed: true })
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-SETUP-6] tests, code and unchanged setup cannot be requested, and every change must be named',
    async () => {
      const { agent, ask, change } = await withChangedScript(HONEST)
      await agent.does('write_files', { path: '.npmrc', content: 'script-shell=/bin/true\n' })
      const cases: readonly (readonly [readonly string[], string])[] = [
        [[TEST], 'belongs to the tests'],
        [['package.json', 'src/sum.js'], 'src/sum.js is not changed test setup'],
        [['../package.json'], 'leaves the work tree'],
        [['package.json'], '.npmrc changed too'],
        [[], 'argument "paths"'],
      ]
      for (const [paths, said] of cases) {
        const { status, body } = await ask([...paths])
        expect([400, 403], JSON.stringify(body)).toContain(status)
        expect(String(body.detail)).toContain(said)
      }
      const listed = await server.call('GET', '/approvals', server.operator)
      expect(JSON.stringify(listed.body)).not.toContain(agent.task)
      await agent.does('bash', { command: 'rm .npmrc' })
      await change('node --test')
      expect(String((await ask()).body.detail)).toContain('package.json is not changed test setup')
    },
    WALK_MS_MAX,
  )
})
