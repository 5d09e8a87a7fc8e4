import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { built } from '../cli/program.js'
import { processesWith } from '../confinement/scene.js'
import { makePlace, type Served, serve } from '../e2e/process.js'
import { AGENT } from './agent.js'
import { type Body, contractWith, until } from './stage.js'

const RUN_MS_MAX = 300_000
beforeAll(built, RUN_MS_MAX)

const MARK = 'reviewers-killed-9317'
/** Each reviewer by its name, and what it does. */
const WORDS: Readonly<Record<string, string>> = {
  objects: 'judge',
  approves: 'review',
  hangs: `say:there, hang, ${MARK}`,
  crashes: '"exit:4"',
}

const contractFor = (agent: string): string =>
  contractWith({
    phases: `phases:
  - {id: PLAN, allowed_tools: []}
  - id: REVIEW
    allowed_tools: [write_files]
    required_artifacts: [{type: review_report, schema: schemas/review.json}]
    gates: [{id: g, type: validation, blockers: [{check: no_blocking_issues}]}]
    auto_spawn: [${Object.keys(WORDS)
      .map((name) => `{agent: ${name}, wait_for_completion: true}`)
      .join(', ')}]
  - {id: DONE, allowed_tools: []}
`,
    crash: '{max_retries: 3, backoff_seconds: 60}',
    more: `agents:\n${Object.entries(WORDS)
      .map(([name, words]) => `  ${name}: {harness: command, command: node, args: [${agent}, ${words}]}\n`)
      .join('')}`,
  })

describe('a server that is killed while reviewers are at work', () => {
  it(
    '[REQ-BREAKAGAIN-7] leaves each of them as it was: nobody is doubled, forgotten, or said to run who does not',
    async () => {
      const place = await makePlace()
      mkdirSync(join(place.dir, 'program'))
      const agent = join(place.dir, 'program', 'agent.mjs')
      writeFileSync(agent, AGENT)
      const contract = join(place.dir, 'contract.yaml')
      writeFileSync(contract, contractFor(agent))
      let server: Served = await serve(place, contract)
      const post = (path: string, body: Body, token = server.operator) => server.call('POST', path, token, body)
      const spawns = async (): Promise<Record<string, Body>> => {
        const { body } = await server.call('GET', '/agents', server.operator)
        const all = (body.agents as Body[]).flatMap(({ spawn }) => (spawn === null ? [] : [spawn as Body]))
        expect(new Set(all.map((one) => one.reviewer)).size).toBe(all.length)
        return Object.fromEntries(all.map((one) => [String(one.reviewer), one]))
      }
      const states = async (): Promise<Body> =>
        Object.fromEntries(Object.entries(await spawns()).map(([name, one]) => [name, one.state]))
      const BEFORE = { objects: 'waiting', approves: 'ended', hangs: 'running', crashes: 'waiting' }
      try {
        const added = await post('/agents', { agent_id: 'ada' })
        const token = String(added.body.agent_token)
        const task = await post('/tasks', { title: 'x' })
        await post('/tasks/claim', { agent_id: 'ada' }, token)
        await post('/tasks/transition', { task_id: task.body.id, target_phase: 'REVIEW' }, token)
        await until(
          states,
          (now) => JSON.stringify(Object.entries(now).sort()) === JSON.stringify(Object.entries(BEFORE).sort()),
        )
        await until(
          () => processesWith(MARK).length,
          (count) => count > 0,
        )
        await post('/pause', { reason: 'r' })
        await server.kill()
        await until(
          () => processesWith(MARK).length,
          (count) => count === 0,
        )
        server = await serve(place, contract)
        // While all agents are paused nothing is started, and nothing is said to run.
        await until(states, (now) => now.hangs === 'waiting')
        expect(await states()).toEqual({ ...BEFORE, hangs: 'waiting' })
        expect((await spawns()).hangs).toMatchObject({ restarts: 0, lost: { cause: 'server_killed' } })
        await post('/unpause', {})
        await until(states, (now) => now.hangs === 'running')
        await new Promise((resolve) => setTimeout(resolve, 3000))
        const after = await spawns()
        expect(after.objects).toMatchObject({ state: 'waiting', restarts: 0 })
        expect(after.approves).toMatchObject({ outcome: 'finished', restarts: 0 })
        expect(after.hangs).toMatchObject({ state: 'running', restarts: 1 })
        expect(after.crashes).toMatchObject({ state: 'waiting' })
        expect(Number(after.crashes?.restarts)).toBeLessThanOrEqual(1)
        await server.stop()
      } finally {
        await server.kill()
        place.remove()
      }
    },
    RUN_MS_MAX,
  )
})
