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

describe('a server that is killed', () => {
  it(
    '[REQ-SPAWN-21] takes its agents with it; the next one counts that as a crash, and they go on from their phase',
    async () => {
      const place = await makePlace()
      mkdirSync(join(place.dir, 'program'))
      const agent = join(place.dir, 'program', 'agent.mjs')
      writeFileSync(agent, AGENT)
      const contract = join(place.dir, 'contract.yaml')
      writeFileSync(contract, contractWith())
      const mark = 'server-killed-4471'
      const started = async (server: Served, words: readonly string[]): Promise<Body> => {
        const program = { harness: 'command', command: 'node', args: [agent, ...words] }
        const answer = await server.call('POST', '/agents/spawn', server.operator, {
          ...program,
          task: { title: 'x' },
          adapter: 'tmux',
        })
        expect(answer.status, JSON.stringify(answer.body)).toBe(201)
        return answer.body
      }
      let server = await serve(place, contract)
      try {
        const honest = await started(server, ['first', 'claim', 'go:BUILD', 'say:there', 'beat', mark])
        const log = async (): Promise<string> =>
          String((await server.call('GET', `/agents/${honest.agent_id}/log`, server.operator)).body.text)
        await until(log, (text) => text.includes('there'))
        await server.kill()
        await until(
          () => processesWith(mark),
          (all) => all.length === 0,
        )
        await until(
          () => processesWith(join(place.stateDir, 'agents', String(honest.agent_id), 'log')),
          (all) => all.length === 0,
        )
        server = await serve(place, contract)
        const show = async (): Promise<Body> =>
          (await server.call('GET', `/agents/${honest.agent_id}`, server.operator)).body
        const ended = await until(show, (one) => one.state === 'ended')
        expect(ended).toMatchObject({ outcome: 'completed', restarts: 1, lost: { cause: 'server_killed' } })
        expect(await log()).toMatch(/second\nclaim 200 \S+ BUILD/)
        const { body } = await server.call('GET', `/tasks/${honest.task_id}/timeline`, server.operator)
        const types = (body.events as { type: string }[]).map(({ type }) => type)
        expect(types.filter((type) => type === 'agent_dropped')).toHaveLength(1)
        await server.stop()
      } finally {
        await server.kill()
        place.remove()
      }
    },
    RUN_MS_MAX,
  )
})
