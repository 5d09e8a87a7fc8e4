import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { depth } from '../depth.js'
import { Checker } from './checker.js'
import { AgentClient, CONTRACT, type Kind, Line, runCreator } from './clients.js'
import { randomFrom, scratch, seedOf } from './disk/place.js'
import { ask, type Server, startServer } from './server.js'

const CYCLES = Number(process.env.PHASELOCK_TORTURE_CYCLES ?? depth(1, 20))
const AGENTS = 8
const CREATORS = 2
const WORK_MS_MAX = 400
const LAST_MS_MAX = 180_000
const KINDS = ['create', 'claim', 'check', 'transition', 'approve', 'release'] as const
const TEST_MS_MAX = 300_000 + CYCLES * 15_000

async function addAgent(server: Server, id: string): Promise<string> {
  const answer = await ask(server.base, {
    method: 'POST',
    path: '/agents',
    token: server.operator,
    body: { agent_id: id },
  })
  expect(answer.status).toBe(201)
  return String(answer.body.agent_token)
}

test(
  `[REQ-TORTURE-1] [REQ-TORTURE-2] [REQ-TORTURE-3] after each of many kills under load all that was acknowledged is there, once, and nobody holds what another holds`,
  async () => {
    const dir = scratch()
    const stateDir = join(dir, 'state')
    const workspace = join(dir, 'tree')
    const contract = join(dir, 'contract.yaml')
    mkdirSync(workspace)
    writeFileSync(contract, CONTRACT)
    const place = { stateDir, workspace, contract }
    const seed = seedOf()
    const random = randomFrom(seed)
    const line = new Line()
    const checker = new Checker(line.history, stateDir)
    let server = await startServer(place)
    const { operator } = server
    const agents: AgentClient[] = []
    for (let index = 0; index < AGENTS; index += 1) {
      const id = `agent-${index}`
      agents.push(new AgentClient(line, { id, token: await addAgent(server, id), operator, random }))
    }
    line.up(server.base)
    const work = [
      ...agents.map((agent) => agent.run()),
      ...Array.from({ length: CREATORS }, (_, index) => runCreator(line, { token: operator, name: `t${index}` })),
    ]

    const problems: string[] = []
    const inFlight: number[] = []
    let checked = 0
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50 + random() * WORK_MS_MAX))
      inFlight.push(line.inFlight)
      await server.kill()
      line.down()
      for (const found of await checker.directory()) problems.push(`after kill ${cycle + 1}: ${found}`)
      server = await startServer(place)
      const settled = line.history.length
      const before = Math.max(0, checked)
      line.up(server.base)
      for (const found of await checker.present(server, before)) problems.push(`after kill ${cycle + 1}: ${found}`)
      checked = settled
    }
    const count = (kind: Kind) => line.history.filter((one) => one.kind === kind && one.answer !== null).length
    // On a busy machine some of what clients do comes late.
    for (const until = Date.now() + LAST_MS_MAX; Date.now() < until && KINDS.some((kind) => count(kind) === 0); )
      await new Promise((resolve) => setTimeout(resolve, 50))
    line.finish()
    await Promise.all(work)
    problems.push(...(await checker.everything(server)))
    expect(await server.stop()).toBe(0)
    problems.push(...(await checker.directory()))

    const resent = line.history.filter((one) => one.sends > 1).length
    const withRequests = inFlight.filter((one) => one > 0).length
    console.log(
      `kill -9: ${CYCLES} cycles, ${withRequests} with requests in flight (${inFlight.join(' ')}), ` +
        `${line.history.length} requests, ${resent} sent again, seed ${seed}`,
    )
    expect(problems, `PHASELOCK_TORTURE_SEED=${seed}`).toEqual([])
    expect(withRequests).toBeGreaterThanOrEqual(Math.ceil(CYCLES * 0.75))
    expect(resent).toBeGreaterThan(0)
    for (const kind of KINDS) expect(count(kind), kind).toBeGreaterThan(0)
  },
  TEST_MS_MAX,
)
