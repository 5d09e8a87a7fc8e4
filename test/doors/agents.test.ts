import { realpathSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { GatewaySocket } from '../../src/gateway/gateway-ports.js'
import { openModelRelay } from '../../src/gateway/model-relay.js'
import { built, ROOT, SCRIPT } from '../cli/program.js'
import { type Running, start } from '../http/harness.js'
import { INITIALIZE } from '../mcp/clients.js'
import { MARK, scriptedModel } from '../mcp/scripted-model.js'
import { claudeCode } from '../participants/real-agents.js'
import { type Behind, openBehind } from './behind.js'

const RUN_MS_MAX = 300_000

let behind: Behind
let server: Running
let ada: string
let ben: string
let adas: GatewaySocket
let bens: GatewaySocket
beforeAll(async () => {
  await built()
  behind = await openBehind()
}, RUN_MS_MAX)
afterAll(() => behind.close())
beforeEach(async () => {
  server = await start()
  ada = await server.addAgent('ada')
  ben = await server.addAgent('ben')
  adas = await server.agentSockets.open({ agentId: 'ada' })
  bens = await server.agentSockets.open({ agentId: 'ben' })
})
afterEach(async () => {
  expect(server.faults).toEqual([])
  await server.stop()
})

/** Runs lines of JavaScript as ada, who holds these tokens. */
async function asAda(script: string, env: Record<string, string> = {}): Promise<string> {
  const argv = ['node', '--input-type=module', '-e', script]
  const ended = await behind.run({ sockets: { orchestrator: adas.path }, env, argv })
  return ended.stdout + ended.stderr
}

const REACH = `
import { connect } from 'node:net'
const reach = (...to) => new Promise((resolve) => {
  const socket = connect(...to)
  socket.setTimeout(2000, () => { resolve('silent'); socket.destroy() })
  socket.on('connect', () => { resolve('REACHED'); socket.destroy() })
  socket.on('error', (error) => resolve(error.code))
})
`

describe('an agent in the sandbox', () => {
  it("[REQ-SOCKET-3] reaches neither the server's port, nor another agent's socket, nor any network", async () => {
    const outer = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find((one) => !one.internal && one.family === 'IPv4')?.address
    const told = await asAda(`${REACH}
for (const to of ${JSON.stringify([
      [server.port, '127.0.0.1'],
      [server.port, '::1'],
      [server.port, outer ?? '127.0.0.2'],
      [443, '1.1.1.1'],
      [53, '8.8.8.8'],
      [80, '169.254.169.254'],
      [bens.path],
      [adas.path],
      ['/run/phaselock/ben.sock'],
      ['/run/phaselock/model.sock'],
      [8701, '127.0.0.1'],
    ])}) console.log(to.join(' '), await reach(...to))
console.log(await reach('/run/phaselock/orchestrator.sock'), await reach(8700, '127.0.0.1'))`)
    const lines = told.trim().split('\n')
    expect(lines.pop()).toBe('REACHED REACHED')
    expect(lines).toHaveLength(11)
    expect(lines.filter((line) => line.includes('REACHED'))).toEqual([])
  })

  it('[REQ-SOCKET-3] gets nothing by a token that it found: of another agent, of an operator, or its own elsewhere', async () => {
    const told = await asAda(
      `for (const token of [process.env.BEN, process.env.OPERATOR, process.env.ADA]) {
        const headers = { authorization: 'Bearer ' + token }
        const answer = await (await fetch(process.env.PHASELOCK_URL + '/api/v1/questions', { headers })).json()
        console.log(answer.code)
      }`,
      { ADA: ada, BEN: ben, OPERATOR: server.operator },
    )
    expect(told.trim().split('\n')).toEqual(['token_mismatch', 'not_permitted', 'no_active_task'])
    const { body } = await server.call('GET', '/audit/query?type=request_refused&limit=10', server.operator)
    const recorded = (body.events as { actor: string; data: { code: string } }[]).map(({ actor, data }) => [
      actor,
      data.code,
    ])
    expect(recorded.sort()).toEqual([
      ['agent:ada', 'not_permitted'],
      ['agent:ada', 'token_mismatch'],
    ])
    expect((await server.call('GET', '/questions', ada)).body).toMatchObject({ code: 'token_mismatch' })
  })

  it('[REQ-SOCKET-2] speaks MCP over standard input and output, with `phaselock mcp` inside', async () => {
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    const lines = [INITIALIZE, initialized, list].map((one) => JSON.stringify(one)).join('\n')
    const { stdout, stderr, exitCode } = await behind.run(
      {
        sockets: { orchestrator: adas.path },
        env: { PHASELOCK_TOKEN: ada, LINES_IN: lines },
        argv: ['bash', '-c', `printf '%s\\n' "$LINES_IN" | ${SCRIPT} mcp`],
      },
      [ROOT, realpathSync(join(ROOT, 'node_modules'))],
    )
    expect([exitCode, stderr]).toEqual([0, ''])
    const answers = stdout.trim().split('\n')
    expect(answers).toHaveLength(2)
    expect(answers[1]).toContain('"claim_task"')
  })
})

describe('Claude Code in the sandbox', () => {
  it(
    '[REQ-SOCKET-9] has no network, lists the tools of Phaselock, and its key is added outside',
    async ({ skip }) => {
      const found = claudeCode()
      if (!found.ok) return skip(found.reason)
      const task = await server.addTask()
      const model = await scriptedModel([{ name: 'mcp__phaselock__claim_task', input: {} }])
      const uses: string[] = []
      const relay = await openModelRelay({
        ...{ baseUrl: model.url, dir: server.agentSockets.dir, headers: { 'x-api-key': 'the-real-key' } },
        onUse: ({ method, path, status }) => uses.push(`${method} ${path} ${status}`),
      })
      const url = 'http://127.0.0.1:8700/mcp'
      const entry = { type: 'http', url, headers: { Authorization: `Bearer ${ada}` } }
      const { home } = behind
      writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { phaselock: entry } }))
      const ended = await behind.run(
        {
          sockets: { orchestrator: adas.path, model: { ...relay, variables: ['ANTHROPIC_BASE_URL'] } },
          env: {
            ...{ HOME: home, TMPDIR: join(home, 'work'), CLAUDE_CONFIG_DIR: join(home, '.claude') },
            ...{ ANTHROPIC_API_KEY: 'none', CLAUDE_CODE_MAX_RETRIES: '1', DISABLE_AUTOUPDATER: '1' },
            ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1' },
            ...{ ENABLE_TOOL_SEARCH: 'false', IS_SANDBOX: '1', HTTPS_PROXY: 'http://127.0.0.1:1' },
          },
          argv: [
            ...[found.program, '-p', `${MARK} Do the task.`, '--output-format', 'json', '--tools', ''],
            ...['--setting-sources', '', '--strict-mcp-config', '--mcp-config', join(home, 'mcp.json')],
            '--dangerously-skip-permissions',
          ],
        },
        [dirname(found.program)],
      )
      expect(model.turns, ended.stdout + ended.stderr).toHaveLength(2)
      expect(model.turns[0]?.tools).toContain('mcp__phaselock__claim_task')
      expect(model.turns[1]?.results).toMatchObject([{ isError: false }])
      expect(ended.exitCode).toBe(0)
      expect(new Set(uses)).toEqual(new Set(['POST /v1/messages 200']))
      const { body } = await server.call('GET', `/tasks/${task}`, server.operator)
      expect(body).toMatchObject({ agent_id: 'ada' })
      await relay.close()
      model.close()
    },
    RUN_MS_MAX,
  )
})
