import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AgentClient } from '../../sdk/typescript/src/index.js'
import { built, ROOT, SCRIPT } from '../cli/program.js'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { ERAS, type Era, McpAgent } from './clients.js'

const SECONDS = 180
const ANSWER_MS_MAX = 45_000
const TEST_MS_MAX = 420_000

const contractOf = (isAutomatic: boolean): string => `
name: three-minutes
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files]
    gates:
      - id: green
        type: validation
        auto_advance: ${isAutomatic}
        blockers: [{check: all_tests_pass, message: GREEN}]
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: "sleep ${SECONDS}; node --test tests/", format: node, timeout_seconds: 600}}
`

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
test('adds', () => assert.equal(2 + 3, 5))
`

interface Task {
  readonly id: string
  readonly agentToken: string
  readonly token: string
  readonly tree: string
}

describe('a gate that takes three minutes', () => {
  const places: Place[] = []
  const servers: Served[] = []
  let url = ''
  let server: Served
  let alone: Served
  let aloneUrl = ''

  beforeAll(async () => {
    await built()
    const open = async (isAutomatic: boolean): Promise<{ place: Place; served: Served }> => {
      const place = await makePlace()
      places.push(place)
      const contract = join(place.dir, 'contract.yaml')
      writeFileSync(contract, contractOf(isAutomatic))
      const served = await serve(place, contract)
      servers.push(served)
      return { place, served }
    }
    const work = await open(false)
    server = work.served
    url = `http://127.0.0.1:${work.place.port}`
    const other = await open(true)
    alone = other.served
    aloneUrl = `http://127.0.0.1:${other.place.port}`
  })
  afterAll(async () => {
    for (const one of servers) await one.stop()
    for (const place of places) place.remove()
  })

  const begin = async (id: string, on = server, at = 0): Promise<Task> => {
    const tree = join(places[at]?.dir ?? '', `tree-${id}`)
    mkdirSync(join(tree, 'tests'), { recursive: true })
    writeFileSync(join(tree, 'tests/add.test.mjs'), `${TEST}// ${id}\n`)
    await on.call('POST', '/tasks', on.operator, { id, title: id, workspace: tree })
    const agent = await on.call('POST', '/agents', on.operator, { agent_id: `agent-${id}` })
    const agentToken = String(agent.body.agent_token)
    const claimed = await on.call('POST', '/tasks/claim', agentToken, { agent_id: `agent-${id}`, task_id: id })
    return { id, agentToken, token: String(claimed.body.phase_token), tree }
  }
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const from = performance.now()
    const result = await work
    expect(performance.now() - from).toBeLessThan(ANSWER_MS_MAX)
    return result
  }
  /** The task is done, was asked for once, and nothing was counted. */
  const isDone = async (id: string, on = server): Promise<void> => {
    const done = await on.call('GET', `/tasks/${id}`, on.operator)
    expect(done.body).toMatchObject({ status: 'completed', refusals: 0 })
    const { body } = await on.call('GET', `/tasks/${id}/timeline?limit=500`, on.operator)
    const types = (body.events as { type: string }[]).map(({ type }) => type)
    const count = (type: string) => types.filter((one) => one === type).length
    expect([count('transition_requested'), count('gate_passed'), count('gate_blocked')]).toEqual([1, 1, 0])
  }
  const overMcp = async (client: McpAgent): Promise<void> => {
    const ask = () => timed(client.does('request_transition', { target_phase: 'DONE' }))
    let answer = await ask()
    expect(answer).toMatchObject({ checking: true })
    while (answer.checking === true) answer = await ask()
    expect(answer).toMatchObject({ allowed: true, status: 'completed' })
    await client.close()
  }
  const overHttp = (era: Era) => async () => {
    const { id, agentToken } = await begin(`http-${era.name}`)
    await overMcp(await McpAgent.connect(url, agentToken, era))
    await isDone(id)
  }
  const overStdio = (era: Era) => async () => {
    const { id, agentToken } = await begin(`stdio-${era.name}`)
    const env = { PATH: process.env.PATH ?? '', HOME: places[0]?.dir ?? '', PHASELOCK_URL: url }
    const transport = new StdioClientTransport({
      ...{ command: SCRIPT, args: ['mcp'], env: { ...env, PHASELOCK_TOKEN: agentToken }, stderr: 'inherit' },
    })
    await overMcp(await McpAgent.over(transport, era))
    await isDone(id)
  }
  const overRest = async () => {
    const { id, token } = await begin('rest')
    const ask = () => timed(server.call('POST', '/tasks/transition', token, { task_id: id, target_phase: 'DONE' }))
    let answer = await ask()
    expect(answer.body).toMatchObject({ checking: true })
    while (answer.body.checking === true) answer = await ask()
    expect(answer.body).toMatchObject({ allowed: true, status: 'completed' })
    await isDone(id)
  }
  const overCli = (args: readonly string[]) => async () => {
    const { id, agentToken } = await begin(`cli${args.join('')}`)
    const env = { PATH: process.env.PATH, HOME: places[0]?.dir, PHASELOCK_URL: url, PHASELOCK_TOKEN: agentToken }
    const ended = await ran(process.execPath, [SCRIPT, 'next', ...args], env)
    expect(ended, JSON.stringify(ended)).toMatchObject({ code: 0 })
    expect(ended.stderr).toMatch(/^The gates of WORK are still being checked \(\d+ s\) …$/m)
    if (args.includes('--json')) expect(JSON.parse(ended.stdout)).toMatchObject({ allowed: true, status: 'completed' })
    await isDone(id)
  }
  const overTypeScript = async () => {
    const { id, agentToken } = await begin('typescript')
    const client = new AgentClient({ url, token: agentToken })
    await client.claimTask({ taskId: id })
    await client.requestTransition('DONE')
    client.close()
    await isDone(id)
  }
  const overPython = async () => {
    const { id, agentToken } = await begin('python')
    const program = `
import sys
sys.path.insert(0, ${JSON.stringify(join(ROOT, 'python/src'))})
from orchestrator_agent_sdk import AgentClient
client = AgentClient(${JSON.stringify(url)}, ${JSON.stringify(agentToken)})
client.claim_task(task_id=${JSON.stringify(id)})
client.request_transition("DONE")
`
    const ended = await ran('python3', ['-c', program], { PATH: process.env.PATH, HOME: places[0]?.dir })
    expect(ended, JSON.stringify(ended)).toMatchObject({ code: 0 })
    await isDone(id)
  }
  const byItself = async () => {
    const { id, agentToken } = await begin('alone', alone, 1)
    const client = await McpAgent.connect(aloneUrl, agentToken, ERAS[0] as Era)
    const written = await timed(client.does('write_files', { path: 'a.txt', content: 'a' }))
    expect(written).toMatchObject({ decision: 'allowed', advancing: true })
    const status = async () => (await alone.call('GET', `/tasks/${id}`, alone.operator)).body.status
    await expect.poll(status, { timeout: TEST_MS_MAX / 2, interval: 1000 }).toBe('completed')
    await isDone(id, alone)
    await client.close()
  }

  it(
    '[REQ-LONGGATE-2] [REQ-LONGGATE-3] [REQ-LONGGATE-8] breaks no client: REST, MCP over HTTP and the bridge, CLI, both SDKs, auto_advance',
    async () => {
      const walks = [
        ...ERAS.flatMap((era) => [overHttp(era), overStdio(era)]),
        ...[overRest, overCli([]), overCli(['--json']), overTypeScript, overPython, byItself],
      ]
      const ended = await Promise.allSettled(walks.map((walk) => walk()))
      for (const one of ended) if (one.status === 'rejected') throw one.reason
    },
    TEST_MS_MAX,
  )
})

function ran(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}
