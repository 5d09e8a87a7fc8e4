import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUNDLED_CONTRACTS } from '../../src/contract/bundled-contracts.js'
import { isFullDepth } from '../depth.js'
import { makePlace, type Place, type Served, serve } from './process.js'
import { git, makeRepository } from './projects.js'
import { Walker } from './walker.js'
import { CARTS, installPad, type Leg, STORIES } from './workflow-stories.js'

const WALK_MS_MAX = 300_000
const OLD_TEST = 'tests/cart.test.js'
const REFUSED = ['forbidden_tool', 'constraint_violation', 'tool_failed']

const told = isFullDepth() ? STORIES : STORIES.filter(({ contract }) => contract === 'docs')

it('[REQ-WORKFLOW-1] every workflow that ships besides these has a story', () => {
  const others = ['guardrails', 'plan-review', 'tdd', 'test-generation']
  expect([...STORIES.map(({ contract }) => contract), ...others].sort()).toEqual([...BUNDLED_CONTRACTS])
})

describe.each(told)('the workflow $contract', (story) => {
  let place: Place
  let server: Served
  let agent: Walker
  let tree: string
  let start: string

  beforeAll(async () => {
    place = await makePlace()
    makeRepository(place.workspace, CARTS)
    installPad(place.workspace, '1.0.0')
    start = git(place.workspace, 'rev-parse', 'HEAD')
    server = await serve(place, story.contract)
    agent = await Walker.claim(server, 'carts', story.task)
    const { body } = await server.call('GET', '/tasks/carts', server.operator)
    tree = String(body.workspace)
  }, WALK_MS_MAX)
  afterAll(async () => {
    await server?.stop()
    place?.remove()
  })

  it.each(story.legs)(
    '[REQ-WORKFLOW-2] refuses every trick in $phase, and lets honest work go on to $to',
    async (leg) => {
      await tryTricks(leg)
      if (leg.invented !== undefined) await isRefused(leg, leg.invented.hands, leg.invented.checks)
      for (const { does, checks } of leg.spoiled ?? []) {
        for (const [tool, args] of does) await agent.does(tool, args)
        await isRefused(leg, leg.hands, checks)
      }
      for (const [tool, args] of leg.does ?? []) await agent.does(tool, args)
      await leg.byHand?.(agent, tree)
      const old = agent.token
      await goOn(leg)
      const replayed = await server.call('POST', '/tools/execute', old, {
        ...{ task_id: 'carts', tool_name: 'read_files', args: { path: 'src/cart.js' } },
      })
      expect([403, 409]).toContain(replayed.status)
      expect(['token_stale', 'task_not_active']).toContain(replayed.body.code)
    },
    WALK_MS_MAX,
  )

  it('[REQ-WORKFLOW-3] ends with what it is for in the repository, and with an intact ledger', async () => {
    const { body } = await server.call('GET', '/tasks/carts', server.operator)
    expect(body).toMatchObject({ status: 'completed' })
    if (story.committed === null) expect(git(place.workspace, 'rev-parse', 'HEAD')).toBe(start)
    else {
      const names = git(place.workspace, 'show', '--name-only', '--format=', 'HEAD').trim().split('\n').sort()
      expect(names).toEqual([...story.committed].sort())
    }
    expect(git(place.workspace, 'status', '--porcelain')).toBe('')
    expect((await server.call('GET', '/audit/verify', server.operator)).body).toMatchObject({ ok: true })
  })

  it.runIf(story.contract === 'spike')('[REQ-WORKFLOW-4] brings nothing of a spike into the repository', async () => {
    const merged = await server.call('POST', '/tasks/carts/merge', server.operator, { reason: 'it works' })
    expect(merged, JSON.stringify(merged.body)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(git(place.workspace, 'rev-parse', 'HEAD')).toBe(start)
    expect(existsSync(join(place.workspace, 'src/early.js'))).toBe(false)
    const other = await Walker.claim(server, 'no-tree')
    const [leg] = story.legs
    const blockers = await other.refused('EXPLORE', leg?.hands)
    expect(blockers).toMatchObject([
      { check: 'expression', message: expect.stringContaining('A spike needs a work tree of its own') },
    ])
  })

  async function tryTricks({ phase, to, closed }: Leg): Promise<void> {
    for (const path of closed) {
      const before = existsSync(join(tree, path)) ? readFileSync(join(tree, path), 'utf8') : null
      const calls = [
        ['write_files', { path, content: 'export {}\n' }],
        ['bash', { command: `mkdir -p ${dirname(path)} && echo 'export {}' > ${path}` }],
      ] as const
      for (const [tool, args] of calls) {
        const { status, body } = await agent.use(tool, args)
        if (status < 400)
          expect(JSON.stringify(body), `${tool} ${path}`).toMatch(/"exit_code":[1-9]|discarded|not kept/)
        else expect(REFUSED, JSON.stringify(body)).toContain(body.code)
        const after = existsSync(join(tree, path)) ? readFileSync(join(tree, path), 'utf8') : null
        expect(after, path).toBe(before)
      }
    }
    const last = story.legs.at(-1)?.to ?? ''
    if (to !== last)
      expect(await agent.move(last), `${phase} to ${last}`).toMatchObject({ code: 'no_transition', status: 400 })
  }

  async function isRefused({ to }: Leg, hands: Record<string, unknown>, checks: readonly string[]): Promise<void> {
    const blockers = await agent.refused(to, hands)
    const seen = blockers.flatMap(({ check }) => check ?? [])
    for (const check of checks) expect(seen, JSON.stringify(blockers)).toContain(check)
  }

  async function goOn(leg: Leg): Promise<void> {
    const { to, hands, closed, phase } = leg
    // Behind Phaselock's back, where the phase does not let the tests change.
    if (closed.includes(OLD_TEST)) {
      const path = join(tree, OLD_TEST)
      const text = readFileSync(path, 'utf8')
      writeFileSync(path, text.replace('12', '13'))
      expect((await agent.refused(to, hands)).map(({ code }) => code)).toContain('unledgered_change')
      writeFileSync(path, text)
    }
    if (leg.isApproved === true) {
      const asked = await agent.move(to, hands)
      expect(asked, JSON.stringify(asked)).toMatchObject({ allowed: false, pending_approval: {} })
      const { id, digest } = asked.pending_approval as { id: string; digest: string }
      for (const token of [agent.token, agent.agentToken])
        expect(
          await server.call('POST', `/approvals/${id}/decision`, token, { decision: 'approve', digest }),
        ).toMatchObject({ status: 403 })
      await agent.isLetInto(to, hands)
    } else {
      const moved = await agent.move(to, hands)
      expect(moved, JSON.stringify(moved)).toMatchObject({ allowed: true, phase: to })
      if (phase === to) expect(moved).toMatchObject({ status: 'completed' })
    }
  }
})
