import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { makeCommandParticipant } from '../../src/participants/agent-cli/command-participant.js'
import { type Judge, type JudgedResponse, runTurn } from '../../src/participants/run-turn.js'
import { until } from '../mcp/clients.js'
import { TestDoor } from './command-door.js'
import { processesWith } from './command-script.js'
import { otherModel } from './other-models.js'
import { CODEX_VERSION, codex, GEMINI_VERSION, gemini, OPENCODE_VERSION, opencode } from './real-agents.js'

const RUN_MS_MAX = 300_000
const BAD_ERROR = "Retry (1/3): Invalid agent_id 'agent5'. Valid agents: agent1"
const BAD = { name: 'vote', input: { agent_id: 'agent5', reason: 'better' } }
const GOOD = { name: 'new_answer', input: { content: 'It is this.' } }

let wall: Confinement
let wallDir: string
beforeAll(async () => {
  wallDir = mkdtempSync(join(tmpdir(), 'phaselock-wall-'))
  wall = await openConfinement({ stateDir: wallDir, only: null })
})
afterAll(async () => {
  await wall.close()
  rmSync(wallDir, { recursive: true, force: true })
})

const AGENTS = [
  {
    name: `Codex ${CODEX_VERSION}`,
    harness: 'codex' as const,
    find: codex,
    environment: (url: string) => ({ OPENAI_API_KEY: 'test', OPENAI_BASE_URL: `${url}/v1` }),
    // Nothing lies behind them: the door has no resources, and nobody is asked.
    others: ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource', 'request_user_input'],
  },
  {
    name: `Gemini CLI ${GEMINI_VERSION}`,
    harness: 'gemini' as const,
    find: gemini,
    environment: (url: string) => ({ GEMINI_API_KEY: 'test', GOOGLE_GEMINI_BASE_URL: url }),
    others: [] as readonly string[],
  },
  {
    name: `OpenCode ${OPENCODE_VERSION}`,
    harness: 'opencode' as const,
    find: opencode,
    environment: (url: string) => ({ OPENAI_API_KEY: 'test', OPENAI_BASE_URL: `${url}/v1` }),
    others: [] as readonly string[],
  },
]

describe.each(AGENTS)('$name as a participant', ({ harness, find, environment, others }) => {
  it(
    '[REQ-AGENTCLI-8] votes wrongly, is refused in the same process, then answers',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      const door = await TestDoor.open()
      const model = await otherModel([BAD, GOOD])
      const taking = makeCommandParticipant({
        agent: { id: 'c', kind: 'command', harness, command: found.program, args: [], model: 'scripted-1' },
        mcp: { url: door.url, token: door.token },
        start: (job) => wall.start(job),
        environment: { PATH: process.env.PATH, ...environment(model.url) },
      })
      door.offer = (call) => taking.offer(call)
      const seen: JudgedResponse[] = []
      const judge: Judge = (response) => {
        seen.push(response)
        expect(processesWith(door.token)).toEqual([])
        if (response.calls[0]?.name === 'new_answer') return { type: 'accepted' }
        return response.calls.length === 0
          ? { type: 'stop', message: 'no call' }
          : { type: 'refused', error: BAD_ERROR }
      }
      try {
        const messages = [{ role: 'user' as const, text: 'Which is it?' }]
        const signal = AbortSignal.timeout(RUN_MS_MAX - 10_000)
        const outcome = await runTurn(taking, { messages, tools: [], signal }, judge)
        expect(outcome, JSON.stringify(outcome)).toMatchObject({ type: 'accepted', responses: 2 })
        expect(door.calls).toEqual([BAD, GOOD].map(({ name, input }) => ({ name, arguments: input })))
        expect(model.asked[0]?.text).toContain('Which is it?')
        expect(model.asked[1]?.text).toContain("Retry (1/3): Invalid agent_id 'agent5'")
        const offered = model.asked[0]?.tools ?? []
        const isDoor = (name: string): boolean => /(^|_)(vote|new_answer|coordination_view)$/.test(name)
        expect(offered.filter(isDoor)).toHaveLength(3)
        expect(offered.filter((name) => !isDoor(name) && !others.includes(name))).toEqual([])
        taking.settle(outcome.messages)
        await until(() => processesWith(found.program).length === 0, 20_000)
      } finally {
        await taking.close()
        model.close()
        await door.close()
      }
    },
    RUN_MS_MAX,
  )
})
