import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'

const CONTRACT = `
name: watched
version: "1"
phases:
  - {id: PLAN, allowed_tools: [read_files, bash]}
  - {id: CODE, allowed_tools: [read_files]}
  - {id: DONE, allowed_tools: []}
transitions: [{from: PLAN, to: CODE}, {from: CODE, to: PLAN, when: again}, {from: CODE, to: DONE}]
enforcement: {denial_budget: 100000, reconcile: off, confinement: best_effort}
`
const KEYS = ['finish_reason', 'finish_reason_details', 'is_complete', 'meta', 'coordination', 'agents', 'results']
const READS = 1000

interface Status {
  readonly finish_reason: string
  readonly is_complete: boolean
  readonly meta: { readonly elapsed_seconds: number; readonly last_updated: number }
  readonly agents: Readonly<Record<string, { readonly reliability: Reliability | null }>>
}
interface Reliability {
  readonly total_enforcement_retries: number
  readonly by_round: Readonly<Record<string, { readonly count: number; readonly reasons: readonly string[] }>>
}

let place: Place
let contract: string
let server: Served

beforeAll(async () => {
  place = await makePlace()
  contract = join(place.dir, 'contract.yaml')
  writeFileSync(contract, CONTRACT)
  server = await serve(place, contract)
})
afterAll(async () => {
  await server?.stop()
  place?.remove()
})

const fileOf = (id: string): string => join(place.stateDir, 'runs', id, 'status.json')
const textOf = (id: string): string => readFileSync(fileOf(id), 'utf8')
const fileStatus = (id: string): Status => JSON.parse(textOf(id)) as Status
const asked = async (id: string): Promise<Status> =>
  (await server.call('GET', `/status?run=${id}`, server.operator)).body as unknown as Status
const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      if (holds()) return
    } catch (error) {
      if (tries > 1000) throw error
    }
    if (tries > 1000) throw new Error('it does not come to hold')
    await rest(10)
  }
}

async function claim(id: string, agent: string): Promise<string> {
  await server.call('POST', '/tasks', server.operator, { title: `Task ${id}`, id })
  const { body } = await server.call('POST', '/agents', server.operator, { agent_id: agent })
  const claimed = await server.call('POST', '/tasks/claim', String(body.agent_token), { agent_id: agent, task_id: id })
  return String(claimed.body.phase_token)
}

const use = (task_id: string, token: string, tool_name: string, args: object = {}) =>
  server.call('POST', '/tools/execute', token, { task_id, tool_name, args })

async function move(id: string, token: string, target_phase: string): Promise<string> {
  const { body } = await server.call('POST', '/tasks/transition', token, {
    ...{ task_id: id, target_phase, claims: { again: true } },
  })
  return String(body.phase_token)
}

/** The status without what goes on with the clock. */
function still(status: Status): unknown {
  return { ...status, meta: { ...status.meta, elapsed_seconds: 0 } }
}

describe('status.json of a server that works', () => {
  it('[REQ-STATUS-4] a thousand reads while calls are refused find it whole, and its counts never go back', async () => {
    let token = await claim('busy', 'worker')
    await until(() => textOf('busy') !== '')
    let refusals = 0
    let isOver = false
    const work = async (): Promise<void> => {
      while (!isOver) {
        await Promise.all(Array.from({ length: 10 }, () => use('busy', token, 'write_files')))
        refusals += 10
        if (refusals === 50) token = await move('busy', token, 'CODE')
      }
    }
    const working = work()
    let seen = 0
    const different = new Set<string>()
    for (let i = 0; i < READS || refusals < 100; i += 1) {
      const text = textOf('busy')
      const status = JSON.parse(text) as Status
      expect(Object.keys(status)).toEqual(KEYS)
      expect(text.indexOf('"finish_reason"')).toBeLessThan(text.indexOf('"meta"'))
      const count = status.agents.worker?.reliability?.total_enforcement_retries ?? 0
      expect(count).toBeGreaterThanOrEqual(seen)
      seen = count
      different.add(text)
      await rest(2)
    }
    isOver = true
    await working
    expect(different.size).toBeGreaterThan(4)
    await until(() => fileStatus('busy').agents.worker?.reliability?.total_enforcement_retries === refusals)
    const record = (await asked('busy')).agents.worker?.reliability
    expect(record?.by_round).toEqual({
      1: { count: 50, reasons: ['forbidden_tool'] },
      2: { count: refusals - 50, reasons: ['forbidden_tool'] },
    })
    expect(readdirSync(join(place.stateDir, 'runs', 'busy'))).toEqual(['status.json'])
  })

  it('[REQ-STATUS-5] a command of an agent finds neither the file nor its folder', async () => {
    const token = await claim('curious', 'peeper')
    await until(() => textOf('curious') !== '')
    const found = await use('curious', token, 'bash', {
      command: `cat '${fileOf('curious')}'; ls '${join(place.stateDir, 'runs')}'; true`,
    })
    expect(found.status).toBe(200)
    expect(JSON.stringify(found.body)).not.toContain('finish_reason')
    expect((found.body.result as { stdout: string }).stdout).toBe('')
    expect(statSync(fileOf('curious')).mode & 0o777).toBe(0o600)
  })
})

describe('kill -9', () => {
  it('[REQ-STATUS-12] after it every file says what the ledger says, of open runs and of those that ended', async () => {
    const tokens = new Map<string, string>()
    for (const id of ['k0', 'k1', 'k2', 'k3']) tokens.set(id, await claim(id, `agent-${id}`))
    await Promise.all([...tokens].map(([id, token]) => use(id, token, 'nosuch')))
    // All in one breath: what these calls change is not in the files when the process is gone.
    const calls = [...tokens].flatMap(([id, token]) => [use(id, token, 'write_files'), use(id, token, 'write_files')])
    await Promise.all([
      ...calls,
      server.call('POST', '/tasks/k0/cancel', server.operator, { reason: 'enough' }),
      move('k1', tokens.get('k1') ?? '', 'CODE').then((token) => move('k1', token, 'DONE')),
    ])
    await server.kill()
    rmSync(join(place.stateDir, 'runs', 'k3'), { recursive: true, force: true })
    server = await serve(place, contract)
    for (const id of tokens.keys()) {
      const status = await asked(id)
      await until(() => JSON.stringify(still(fileStatus(id))) === JSON.stringify(still(status)))
    }
    expect([await asked('k0'), await asked('k1'), await asked('k2')].map((one) => one.finish_reason)).toEqual([
      ...['cancelled', 'completed', 'in_progress'],
    ])
    expect(fileStatus('k2').agents['agent-k2']?.reliability?.total_enforcement_retries).toBe(3)
    expect(server.output()).not.toContain('fault:')
  })
})
