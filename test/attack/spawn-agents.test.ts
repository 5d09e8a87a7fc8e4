import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Body, contractWith, openStage, type Stage, until } from '../spawn/stage.js'

const RUN_MS_MAX = 300_000
let stage: Stage
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
})

const ask = (body: Body, headers: Record<string, string> = {}) =>
  stage.server.call('POST', '/agents/spawn', stage.server.operator, body, headers)

/** A program in a few words of JavaScript. `call` asks Phaselock, `say` writes to the log. */
function program(name: string, script: string): Body {
  const file = join(dirname(stage.agent), `${name}.mjs`)
  writeFileSync(
    file,
    `const { PHASELOCK_URL: url, PHASELOCK_TOKEN: token, PHASELOCK_AGENT_ID: me, PHASELOCK_TASK_ID: task } = process.env
    const say = (...words) => console.log(...words)
    const call = async (path, body) => {
      const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
      const answer = await fetch(url + '/api/v1' + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return answer.json()
    }
    ${script}`,
  )
  return { harness: 'command', command: 'node', args: [file] }
}
const HANGS = 'await new Promise(() => setInterval(() => 0, 1000))'
const WRITING = `phases:
  - {id: PLAN, allowed_tools: [read_files, write_files], prompt: "Plan it."}
  - {id: DONE, allowed_tools: []}
`

describe('an agent that was started', () => {
  it(
    '[REQ-SPAWNATTACK-1] gets no task but the one it was started for, neither after it gave that back nor after it completed it',
    async () => {
      stage = await openStage(contractWith())
      const other = await stage.server.addTask({ id: 'other' })
      const grab = `const got = await call('/tasks/claim', { agent_id: me }); say('any', got.code ?? got.task.id)
        const named = await call('/tasks/claim', { agent_id: me, task_id: 'other' }); say('named', named.code ?? named.task.id)`
      const completes = program(
        'completes',
        `await call('/tasks/claim', { agent_id: me })
        for (const to of ['BUILD', 'DONE']) await call('/tasks/transition', { task_id: task, target_phase: to })
        ${grab}`,
      )
      const one = (await ask({ ...completes, task: { title: 'One' } })).body
      expect((await stage.ended(String(one.agent_id))).outcome).toBe('completed')
      expect(await stage.log(String(one.agent_id))).toMatch(/any task_not_active\n.*named not_permitted/s)
      const releases = program('releases', `await call('/tasks/release', { task_id: task, reason: 'x' }); ${grab}`)
      const two = (await ask({ ...releases, task: { title: 'Two' } })).body
      await stage.ended(String(two.agent_id))
      expect(await stage.task(other)).toMatchObject({ status: 'queued' })
      const { events } = (await stage.server.call('GET', `/audit/${other}`, stage.server.operator)).body
      expect(JSON.stringify(events ?? [])).not.toContain('task_claimed')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWNATTACK-2] that writes short lines without end keeps nobody from being answered',
    async () => {
      stage = await openStage(contractWith())
      const { body } = await ask({
        ...{ harness: 'command', command: 'sh', args: ['-c', 'exec yes'] },
        task: { title: 'Flood' },
      })
      await until(
        () => stage.log(String(body.agent_id)),
        (log) => log.includes('y\ny\n'),
      )
      const times: number[] = []
      for (let at = 0; at < 20; at += 1) {
        const before = performance.now()
        await stage.server.call('GET', '/tasks', stage.server.operator)
        times.push(performance.now() - before)
      }
      const [typical = 0] = times.sort((a, b) => a - b).slice(10)
      expect(typical).toBeLessThan(150)
      await stage.server.call('POST', `/agents/${body.agent_id}/stop`, stage.server.operator, {})
      expect((await stage.ended(String(body.agent_id))).outcome).toBe('stopped')
    },
    RUN_MS_MAX,
  )
})

describe('a spawn', () => {
  it(
    '[REQ-SPAWNATTACK-3] that failed is reported as failed, also when it is requested again with the same key',
    async () => {
      stage = await openStage(contractWith({ phases: WRITING }))
      const ada = await stage.server.addAgent('ada')
      await stage.server.addTask({ id: 'first' })
      await stage.server.claim('ada', ada, 'first')
      const wanted = { ...program('hangs', HANGS), task: { title: 'Second' } }
      const key = { 'idempotency-key': 'spawn-once' }
      const first = await ask(wanted, key)
      expect(first.body).toMatchObject({ code: 'conflict', held_by: { task_id: 'first' } })
      const again = await ask(wanted, key)
      expect(again.status, JSON.stringify(again.body)).toBe(409)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWNATTACK-4] that is stopped while it begins leaves nothing that runs',
    async () => {
      stage = await openStage(contractWith())
      const wanted = program('hangs', HANGS)
      const stop = (id: string) => stage.server.call('POST', `/agents/${id}/stop`, stage.server.operator, {})
      for (let round = 0; round < 8; round += 1) {
        const agent_id = `racer-${round}`
        const begun = ask({ ...wanted, agent_id, task: { title: 'Race' } })
        let stopped = await stop(agent_id)
        for (let tries = 0; stopped.status === 404 && tries < 1000; tries += 1) stopped = await stop(agent_id)
        expect(stopped.status, JSON.stringify(stopped.body)).toBe(200)
        await begun
        const { tasks } = (await stage.server.call('GET', '/tasks', stage.server.operator)).body
        const held = (tasks as Body[]).filter((one) => one.status === 'active')
        expect(held, `round ${round}`).toEqual([])
        expect((await stage.facts(agent_id)).at(-1)).toMatchObject({ type: 'agent_ended' })
      }
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWNATTACK-5] is stopped once, however often that is asked for with the same key',
    async () => {
      stage = await openStage(contractWith())
      const { body } = await ask({ ...program('hangs', HANGS), task: { title: 'Stop me' } })
      const stop = () =>
        stage.server.call(
          'POST',
          `/agents/${body.agent_id}/stop`,
          stage.server.operator,
          {},
          { 'idempotency-key': 'k' },
        )
      const first = await stop()
      expect(first).toMatchObject({ status: 200, body: { state: 'ended', outcome: 'stopped' } })
      expect(await stop()).toMatchObject({ status: 200, body: { state: 'ended', outcome: 'stopped' } })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWNATTACK-6] waits if another task took its paths meanwhile, and then continues',
    async () => {
      stage = await openStage(contractWith({ phases: WRITING, crash: '{max_retries: 3, backoff_seconds: 2}' }))
      const crashes = program(
        'crashes',
        `const { readFileSync } = await import('node:fs')
        if (!readFileSync(process.env.PHASELOCK_PROMPT_FILE, 'utf8').includes('started before')) process.exit(1)
        await call('/tasks/claim', { agent_id: me })
        await call('/tasks/transition', { task_id: task, target_phase: 'DONE' })`,
      )
      const { body } = await ask({ ...crashes, task: { title: 'Crash' } })
      await until(
        () => stage.task(String(body.task_id)),
        (one) => one.status === 'interrupted',
      )
      const ada = await stage.server.addAgent('ada')
      await stage.server.addTask({ id: 'other' })
      const token = await stage.server.claim('ada', ada, 'other')
      await new Promise((resolve) => setTimeout(resolve, 3500))
      expect(await stage.show(String(body.agent_id))).toMatchObject({ state: 'waiting', outcome: null })
      await stage.server.call('POST', '/tasks/release', token, { task_id: 'other' })
      expect((await stage.ended(String(body.agent_id))).outcome).toBe('completed')
    },
    RUN_MS_MAX,
  )
})
