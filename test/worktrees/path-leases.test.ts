import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from '../http/harness.js'

const MS = 300_000
// So many refusals in a row park a task.
const OUTSIDE = Array.from({ length: 12 }, () => ({ tool_name: 'write_files', args: { path: 'x', content: '' } }))
const CONTRACT = `
name: leases
version: "1"
recovery:
  agent_crash: {max_retries: 5, backoff_seconds: 1}
enforcement: {lease_seconds: 30}
phases:
  - {id: READ, allowed_tools: [read_files, bash]}
  - id: SRC
    allowed_tools: [read_files, write_files]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
  - id: DOCS
    allowed_tools: [read_files, write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**", "*.md"]}}
  - {id: ALL, allowed_tools: [write_files]}
  - {id: DONE, allowed_tools: []}
transitions:
  - {from: READ, to: SRC}
  - {from: READ, to: DOCS}
  - {from: READ, to: ALL}
  - {from: SRC, to: DONE}
  - {from: SRC, to: READ, when: again}
  - {from: DOCS, to: DONE}
  - {from: ALL, to: DONE}
`

describe('path leases', () => {
  let run: Running

  beforeEach(async () => {
    run = await start({ contract: CONTRACT })
  }, MS)
  afterEach(() => run.stop(), MS)

  /** An agent on a task in READ. */
  async function reader(task: string, about: Record<string, unknown> = {}) {
    await run.addTask({ id: task, ...about })
    const agent = await run.addAgent(`agent-${task}`)
    let token = await run.claim(`agent-${task}`, agent, task)
    return {
      agent,
      token: () => token,
      move: async (target: string, claims: Record<string, unknown> = {}): Promise<Answer> => {
        const moved = await run.call('POST', '/tasks/transition', token, {
          task_id: task,
          target_phase: target,
          claims,
        })
        if (typeof moved.body.phase_token === 'string') token = moved.body.phase_token
        return moved
      },
      claim: () => run.call('POST', '/tasks/claim', agent, { agent_id: `agent-${task}`, task_id: task }),
      operate: (action: string, body: Record<string, unknown> = {}) =>
        run.call('POST', `/tasks/${task}/${action}`, run.operator, { reason: 'because', ...body }),
    }
  }

  const HELD = {
    status: 409,
    body: { code: 'conflict', held_by: { task_id: 'one', agent_id: 'agent-one', phase: 'SRC', pattern: 'src/**' } },
  }

  it(
    '[REQ-LEASES-1] the second task that may write the same paths is refused and told who holds them, and nothing is checked against it',
    async () => {
      const [one, two] = [await reader('one'), await reader('two')]
      expect((await one.move('SRC')).body.allowed).toBe(true)
      expect(await two.move('SRC')).toMatchObject(HELD)
      expect(await two.move('ALL')).toMatchObject(HELD)
      const shown = await run.call('GET', '/tasks/two', run.operator)
      expect(shown.body).toMatchObject({ phase: 'READ', status: 'active', refusals: 0 })
      expect((await two.move('DOCS')).body).toMatchObject({ allowed: true, phase: 'DOCS' })
    },
    MS,
  )

  it(
    '[REQ-LEASES-2] phases that write nothing never conflict, and neither do other trees, but for one inside another',
    async () => {
      const other = join(run.workspace, '..', 'other')
      const inside = join(run.workspace, 'packages', 'a')
      for (const folder of [other, inside]) mkdirSync(folder, { recursive: true })
      const [one, two, three, four] = [
        await reader('one'),
        await reader('two', { workspace: other }),
        await reader('three', { workspace: inside }),
        await reader('four', { workspace: inside }),
      ]
      expect((await one.move('ALL')).body.allowed).toBe(true)
      expect((await two.move('ALL')).body.allowed).toBe(true)
      expect((await three.move('SRC')).body).toMatchObject({ held_by: { task_id: 'one' } })
      expect((await one.move('DONE')).body.status).toBe('completed')
      expect((await three.move('SRC')).body.allowed).toBe(true)
      expect((await four.move('SRC')).body).toMatchObject({ held_by: { task_id: 'three' } })
      const five = await reader('five')
      expect((await five.move('SRC')).body.allowed).toBe(true)
    },
    MS,
  )

  it(
    '[REQ-LEASES-4] the paths are free when the task leaves the phase, is released, parked, cancelled or completed',
    async () => {
      const two = await reader('two')
      const ways: readonly ((one: Awaited<ReturnType<typeof reader>>, task: string) => Promise<Answer>)[] = [
        (one) => one.move('READ', { again: true }),
        (one) => one.move('DONE'),
        (one) => one.operate('cancel'),
        (one) => one.operate('reassign'),
        (one, task) => run.call('POST', '/tools/batch', one.token(), { task_id: task, calls: OUTSIDE }),
        (one, task) => run.call('POST', '/tasks/release', one.token(), { task_id: task, reason: 'enough' }),
      ]
      for (const [index, leave] of ways.entries()) {
        const one = await reader(`one-${index}`)
        expect((await one.move('SRC')).body.allowed, `way ${index}`).toBe(true)
        expect((await two.move('SRC')).status, `way ${index}`).toBe(409)
        const left = await leave(one, `one-${index}`)
        expect(left.status, JSON.stringify(left.body)).toBeLessThan(300)
      }
      expect((await two.move('SRC')).body.allowed).toBe(true)
    },
    MS,
  )

  it(
    '[REQ-LEASES-4] a task whose agent is gone gives its paths up, and gets them back only when they are free',
    async () => {
      const [one, two] = [await reader('one'), await reader('two')]
      await one.move('SRC')
      run.now = Date.now() + 31_000
      await expect.poll(async () => (await run.call('GET', '/tasks/one', run.operator)).body.status).toBe('interrupted')
      run.now += 20_000
      await two.claim().then(({ body }) => expect(body.phase_token).toBeTypeOf('string'))
      const again = await run.call('POST', '/tasks/claim', two.agent, { agent_id: 'agent-two', task_id: 'two' })
      const token = String(again.body.phase_token)
      const moved = await run.call('POST', '/tasks/transition', token, { task_id: 'two', target_phase: 'SRC' })
      expect(moved.body.allowed).toBe(true)
      expect(await one.claim()).toMatchObject({ status: 409, body: { held_by: { task_id: 'two', phase: 'SRC' } } })
      await run.call('POST', '/tasks/transition', String(moved.body.phase_token), {
        task_id: 'two',
        target_phase: 'DONE',
      })
      expect((await one.claim()).status).toBe(200)
    },
    MS,
  )

  it(
    '[REQ-LEASES-4] an operator cannot resume or rewind a task into paths that another one holds',
    async () => {
      const [one, two] = [await reader('one'), await reader('two')]
      await one.move('SRC')
      await one.move('READ', { again: true })
      await two.move('SRC')
      expect(await one.operate('rewind', { to_phase: 'SRC' })).toMatchObject({ status: 409 })
      await two.move('DONE')
      expect((await one.operate('rewind', { to_phase: 'READ' })).status).toBe(200)
    },
    MS,
  )

  it(
    '[REQ-LEASES-5] of many agents that ask at the same moment one gets in, and a claim takes a task that nobody is in the way of',
    async () => {
      const agents = await Promise.all(Array.from({ length: 8 }, (_, index) => reader(`many-${index}`)))
      const answers = await Promise.all(agents.map((agent) => agent.move('SRC')))
      expect(answers.filter(({ body }) => body.allowed === true)).toHaveLength(1)
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(7)
    },
    MS,
  )

  it(
    '[REQ-LEASES-5] a claim passes over tasks whose paths are held, and says who holds them when nothing else is left',
    async () => {
      const writing =
        'name: writing\nversion: "1"\nphases:\n  - {id: W, allowed_tools: [write_files]}\n  - {id: E, allowed_tools: []}\n'
      await run.call('POST', '/contracts', run.operator, { source: writing })
      for (const id of ['w1', 'w2']) await run.addTask({ id, contract: 'writing', priority: 5 })
      await run.addTask({ id: 'plain' })
      const claims: Answer[] = []
      for (const id of ['a', 'b', 'c'])
        claims.push(await run.call('POST', '/tasks/claim', await run.addAgent(id), { agent_id: id }))
      expect(claims[0]?.body).toMatchObject({ task: { id: 'w1' } })
      expect(claims[1]?.body).toMatchObject({ task: { id: 'plain' } })
      expect(claims[2]).toMatchObject({ status: 409, body: { held_by: { task_id: 'w1', agent_id: 'a', phase: 'W' } } })
    },
    MS,
  )
})
