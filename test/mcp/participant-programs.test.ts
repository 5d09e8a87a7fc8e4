import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { AgentScript, type AgentStep, processesWith } from '../participants/command-script.js'
import { CLAUDE_VERSION, claudeCode } from '../participants/real-agents.js'
import { until } from './clients.js'
import { MARK, type ScriptedModel, scriptedModel } from './scripted-model.js'

const RUN_MS_MAX = 300_000
const FAST = [
  { tool_calls: [{ name: 'new_answer', arguments: { content: 'Go left.' } }] },
  { tool_calls: [{ name: 'vote', arguments: { agent_id: 'agent1', reason: 'mine' } }] },
]
const PEER = { id: 'b', kind: 'scripted', script: FAST }

let server: Running
let script: AgentScript
let model: ScriptedModel
let steps: (prompt: string) => readonly { name: string; input: Record<string, unknown> }[] = () => []

beforeEach(async () => {
  script = new AgentScript()
  model = await scriptedModel((prompt) => steps(prompt))
  const environment = { PATH: process.env.PATH, ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: model.url }
  server = await start({ environment })
})
afterEach(async () => {
  await server.stop()
  expect(server.faults).toEqual([])
  expect(processesWith(script.dir)).toEqual([])
  model.close()
  script.remove()
})

interface Attempt {
  readonly reason: string
  readonly handled: string
  readonly error_message: string | null
  readonly buffer_preview: string
}

type Status = {
  readonly is_complete: boolean
  readonly finish_reason: string
  readonly results: { readonly winner: string | null }
  readonly agents: Record<
    string,
    {
      readonly status: string
      readonly error: { readonly message: string } | null
      readonly reliability: { readonly enforcement_attempts: readonly Attempt[] } | null
    }
  >
}

async function begin(agents: readonly unknown[], options: Record<string, unknown> = {}): Promise<string> {
  const body = { question: `${MARK} Which way?`, agents, options }
  const got = await server.call('POST', '/coordinations', server.operator, body)
  expect(got.status, JSON.stringify(got.body)).toBe(201)
  return String(got.body.id)
}

async function statusOf(id: string): Promise<Status> {
  return (await server.call('GET', `/coordinations/${id}/status`, server.operator)).body as unknown as Status
}

async function ended(id: string): Promise<Status> {
  await until(async () => (await statusOf(id)).is_complete, RUN_MS_MAX - 10_000)
  return statusOf(id)
}

function program(...does: readonly AgentStep[]) {
  const { id, kind, harness, command, args } = script.does(...does)
  return { id, kind, harness, command, args }
}

const vote = (agentId: string): AgentStep => ({ call: 'vote', with: { agent_id: agentId, reason: 'r' } })

describe('a program in a coordination', () => {
  it(
    '[REQ-DOOR-5] has no second way in: its token answers nothing over REST, and its votes there count for nothing',
    async () => {
      const respond = { tool_calls: [{ name: 'vote', arguments: { agent_id: 'agent1', reason: 'past the door' } }] }
      const run = await begin([
        program(
          ...[{ wait: 300 }, { rest: '/api/v1/tasks' }, { rest: '/api/v1/coordinations' }],
          ...[{ rest: '/api/v1/coordinations/RUN' }, { rest: '/api/v1/coordinations/RUN/respond', post: respond }],
          ...[{ call: 'coordination_view', with: {} }, vote('agent5'), vote('agent1')],
        ),
        PEER,
      ])
      const status = await ended(run)
      const [attempt, ...more] = status.agents.c?.reliability?.enforcement_attempts ?? []
      expect(more).toEqual([])
      const said = (attempt?.buffer_preview ?? '').split('\n').filter((line) => /^\d{3} /.test(line))
      expect(said).toEqual(['403 not_permitted', '403 not_permitted', '403 not_permitted', '403 not_permitted'])
      expect(attempt?.buffer_preview).toContain('answered: {"id":')
      const { body } = await server.call('GET', `/coordinations/${run}`, server.operator)
      expect(JSON.stringify(body)).not.toContain('past the door')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-DOOR-5] is refused inline through the gateway, goes on in the same process, and its vote counts',
    async () => {
      const run = await begin([
        program({ wait: 300 }, { call: 'execute_command', with: {} }, vote('agent5'), { say: 'Well.' }, vote('agent1')),
        PEER,
      ])
      const status = await ended(run)
      expect(status, JSON.stringify(status)).toMatchObject({ finish_reason: 'completed', results: { winner: 'b' } })
      expect(status.agents.c?.reliability?.enforcement_attempts).toMatchObject([
        { reason: 'unknown_tool', handled: 'inline', tool_calls: ['execute_command'], error_message: null },
        {
          reason: 'invalid_vote_id',
          handled: 'inline',
          error_message: "Invalid agent_id 'agent5'. Valid agents: agent1",
        },
      ])
      const last = status.agents.c?.reliability?.enforcement_attempts[1]?.buffer_preview
      expect(last).toContain(
        'refused: Retry (1/3): Called execute_command (not workflow). Required: vote or new_answer',
      )
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-DOOR-5] is gone when its run is cancelled, at the end of its round, and with the server',
    async () => {
      const waiting = program({ say: 'On it.' }, { wait: 600_000 })
      const cancelled = await begin([waiting, PEER])
      await until(() => processesWith(script.dir).length > 0, 10_000)
      await server.call('POST', `/coordinations/${cancelled}/cancel`, server.operator, { reason: 'enough' })
      await until(() => processesWith(script.dir).length === 0)
      const late = await begin([waiting, PEER], { round_timeout_seconds: 1 })
      expect((await ended(late)).agents.c?.error?.message).toContain('did not finish its round')
      await until(() => processesWith(script.dir).length === 0)
      await begin([waiting, PEER])
      await until(() => processesWith(script.dir).length > 0, 10_000)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-DOOR-5] that cannot be started is reported as such, and the others continue',
    async () => {
      const run = await begin([{ id: 'c', kind: 'command', harness: 'command', command: 'no-such-agent' }, PEER])
      const status = await ended(run)
      expect(status).toMatchObject({ finish_reason: 'completed', results: { winner: 'b' } })
      expect(status.agents.c?.error?.message).toContain("'no-such-agent' is not a program on the PATH of the server")
    },
    RUN_MS_MAX,
  )
})

describe(`Claude Code ${CLAUDE_VERSION} in a coordination`, () => {
  it(
    '[REQ-DOOR-6] ends in text and is restarted, votes wrongly and is refused inline, then votes rightly',
    async ({ skip }) => {
      const found = claudeCode()
      if (!found.ok) return skip(found.reason)
      const use = (agentId: string) => ({ name: 'mcp__phaselock__vote', input: { agent_id: agentId, reason: 'r' } })
      steps = (prompt) =>
        prompt.includes('What you had written before this restart') ? [use('agent5'), use('agent1')] : []
      const run = await begin([{ id: 'c', kind: 'command', harness: 'claude-code', command: found.program }, PEER])
      const status = await ended(run)
      expect(status, JSON.stringify(status)).toMatchObject({ finish_reason: 'completed', results: { winner: 'b' } })
      expect(status.agents.c?.reliability?.enforcement_attempts).toMatchObject([
        { reason: 'no_tool_calls', handled: 'restart', buffer_preview: 'Done.' },
        { reason: 'invalid_vote_id', handled: 'inline' },
      ])
      await until(() => processesWith(found.program).length === 0, 10_000)
      const told = model.turns[1]?.results[0]
      expect(told?.isError).toBe(true)
      expect(told?.text.split('\n')[0]).toMatch(/^Retry \([12]\/3\): Invalid agent_id 'agent5'\. Valid agents: agent1$/)
      expect(JSON.stringify(status)).not.toMatch(/eyJ[\w-]{10}/)
      const ledger = readFileSync(join(server.stateDir, 'ledger.db')).toString('latin1')
      expect(ledger).not.toMatch(/eyJ[\w-]{20,}\.[\w-]{20,}\./)
    },
    RUN_MS_MAX,
  )
})
