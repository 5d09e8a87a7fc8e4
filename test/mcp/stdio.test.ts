import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { built, SCRIPT } from '../cli/program.js'
import { isFullDepth, sample } from '../depth.js'
import { PLAN, type Running, start } from '../http/harness.js'
import { ERAS, INITIALIZE, McpAgent, until } from './clients.js'

let server: Running
let token: string
let task: string

beforeAll(built)
beforeEach(async () => {
  server = await start()
  token = await server.addAgent('ada')
  task = await server.addTask()
})
afterEach(async () => {
  expect(server.faults).toEqual([])
  await server.stop()
})

const environment = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: server.stateDir,
  PHASELOCK_URL: server.url,
  PHASELOCK_TOKEN: token,
  ...more,
})

async function connected(era: (typeof ERAS)[number]): Promise<{ agent: McpAgent; client: Client }> {
  const agent = await McpAgent.over(
    new StdioClientTransport({ command: SCRIPT, args: ['mcp'], env: environment(), stderr: 'inherit' }),
    era,
  )
  return { agent, client: agent.client }
}

interface Piped {
  readonly code: number | null
  readonly lines: readonly Record<string, unknown>[]
  readonly stderr: string
}

/** Runs `phaselock mcp` with these lines as its whole input. */
async function pipe(lines: readonly string[], env: Record<string, string> = environment()): Promise<Piped> {
  const child = spawn(SCRIPT, ['mcp'], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const [code] = (await once(child, 'close')) as [number | null]
  const messages = stdout.split('\n').filter((line) => line !== '')
  return { code, stderr, lines: messages.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('phaselock mcp', () => {
  it("[REQ-MCP-13] does not start without a token, with an operator's token or with an invalid one", async () => {
    const { PHASELOCK_TOKEN: _token, ...without } = environment()
    expect(await pipe([], without)).toMatchObject({
      code: 2,
      lines: [],
      stderr: expect.stringContaining('PHASELOCK_TOKEN'),
    })
    const asOperator = await pipe([], environment({ PHASELOCK_TOKEN: server.operator }))
    expect(asOperator).toMatchObject({ code: 2, lines: [] })
    expect(asOperator.stderr).not.toContain(server.operator)
    expect(await pipe([], environment({ PHASELOCK_TOKEN: 'a b' }))).toMatchObject({ code: 2, lines: [] })
  })

  it.runIf(isFullDepth())(
    '[REQ-REVIEWDOOR-2] [REQ-REVIEWDOOR-3] carries the tools of reviewers with a review token, in both eras',
    async () => {
      await server.claim('ada', token, task)
      for (const era of ERAS) {
        const added = await server.call('POST', `/tasks/${task}/reviewers`, server.operator, { name: 'rita' })
        token = String(added.body.review_token)
        const { agent, client } = await connected(era)
        const { tools } = await client.listTools()
        expect(tools.map(({ name }) => name)).toContain('submit_review')
        await agent.refused('claim_task')
        const { subject } = await agent.does('review_view')
        expect(await agent.does('submit_review', { report: { status: 'approved' }, subject })).toMatchObject({
          ...{ reviewer: 'rita', finished: true },
        })
        expect((await agent.refused('review_view')).structured).toMatchObject({ code: 'token_stale' })
        await agent.close()
      }
    },
  )

  it('[REQ-MCP-13] answers every request with an error when the server is not there', async () => {
    const { code, lines } = await pipe(
      [JSON.stringify(INITIALIZE)],
      environment({ PHASELOCK_URL: 'http://127.0.0.1:59999' }),
    )
    expect(code).toBe(0)
    expect(lines).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32000, message: expect.stringContaining('Cannot reach') } },
    ])
  })

  it('[REQ-MCP-13] says what the server says to a token that is not good, and to lines that cannot be read', async () => {
    const refused = await pipe([JSON.stringify(INITIALIZE)], environment({ PHASELOCK_TOKEN: 'invented' }))
    expect(refused.lines).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: expect.objectContaining({ message: expect.stringContaining('[token_invalid]') }),
      },
    ])
    const { lines } = await pipe(['{"jsonrpc', '', '7', '{"jsonrpc":"2.0","id":"x","method":"tools/list"}'])
    expect(lines).toHaveLength(3)
    expect(lines.map((line) => [line.id, (line.error as { code: number }).code])).toEqual([
      [null, -32700],
      [null, -32700],
      ['x', -32000],
    ])
  })

  it.runIf(isFullDepth())('[REQ-MCP-13] a line that is far too long is refused, and the next one is read', async () => {
    const { lines } = await pipe([`"${'x'.repeat(13 * 1024 * 1024)}"`, JSON.stringify(INITIALIZE)])
    expect(lines.map((line) => line.id)).toEqual([null, 1])
  })

  it('[REQ-MCP-13] ends its session when its input ends', async () => {
    const { lines, code } = await pipe([JSON.stringify(INITIALIZE)])
    expect([code, lines.length]).toEqual([0, 1])
    expect(lines[0]).toMatchObject({ id: 1, result: { serverInfo: { name: 'phaselock' } } })
  })
})

describe.each(sample(ERAS, 1))('a client of $name over standard input and output', (era) => {
  it('[REQ-MCP-13] goes through a phase and is told that the list has changed', async () => {
    const { agent, client } = await connected(era)
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('request_transition')
    await agent.does('claim_task', { task_id: task })
    await until(() => agent.changes === 1)
    expect((await agent.refused('bash', { command: 'true' })).structured.code).toBe('forbidden_tool')
    expect((await agent.refused('täst')).structured.code).toBe('unknown_tool')
    const asked = await agent.refused('request_transition', { target_phase: 'TDD', artifacts: { plan_document: PLAN } })
    const { id, digest } = asked.structured.pending_approval as { id: string; digest: string }
    await server.call('POST', `/approvals/${id}/decision`, server.operator, { decision: 'approve', digest })
    const moved = await agent.does('request_transition', { target_phase: 'TDD', artifacts: { plan_document: PLAN } })
    expect(moved).toMatchObject({ phase: 'TDD' })
    await until(() => agent.changes === 2)
    expect((await client.getPrompt({ name: 'TDD' })).messages).toHaveLength(1)
    await agent.close()
  })
})

describe('a session that is gone', () => {
  it.runIf(isFullDepth())('[REQ-MCP-13] is opened again, without the client noticing', async () => {
    const [legacy] = ERAS
    if (legacy === undefined) throw new Error('there is no older era')
    const { agent } = await connected(legacy)
    await agent.does('claim_task')
    // Half an hour without a request ends the session, as a restart would.
    server.now = Date.now() + 31 * 60_000
    expect((await agent.client.listTools()).tools.length).toBeGreaterThan(5)
    server.now = null
    await agent.close()
  })
})
