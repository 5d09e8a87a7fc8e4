import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import {
  type CommandParticipant,
  makeCommandParticipant,
} from '../../src/participants/agent-cli/command-participant.js'
import type { Message } from '../../src/participants/participant.js'
import { retryMessages } from '../../src/participants/retry-prompt.js'
import { type Judge, type JudgedResponse, runTurn } from '../../src/participants/run-turn.js'
import { until } from '../mcp/clients.js'
import { MARK, type Script, type ScriptedModel, scriptedModel } from '../mcp/scripted-model.js'
import { TestDoor } from './command-door.js'
import { processesWith } from './command-script.js'
import { CLAUDE_VERSION, claudeCode } from './real-agents.js'

const RUN_MS_MAX = 300_000
const ASK: readonly Message[] = [{ role: 'user', text: `${MARK} Which is it?` }]
const BAD_ERROR = "Retry (1/3): Invalid agent_id 'agent5'. Valid agents: agent1"
const NO_TOOL_ERROR = 'Retry (1/3): No tool called. Required: vote or new_answer'
const VOTE = 'mcp__phaselock__vote'
const GOOD = { name: VOTE, input: { agent_id: 'agent1', reason: 'better' } }
const BAD = { name: VOTE, input: { agent_id: 'agent5', reason: 'better' } }
const ANSWER = { name: 'mcp__phaselock__new_answer', input: { content: 'Mine.' } }

let wall: Confinement
let wallDir: string
let door: TestDoor
let model: ScriptedModel | null = null
let one: CommandParticipant | null = null

beforeAll(async () => {
  wallDir = mkdtempSync(join(tmpdir(), 'phaselock-wall-'))
  wall = await openConfinement({ stateDir: wallDir, only: null })
})
afterAll(async () => {
  await wall.close()
  rmSync(wallDir, { recursive: true, force: true })
})
beforeEach(async () => {
  door = await TestDoor.open()
})
afterEach(async () => {
  await one?.close()
  model?.close()
  await door.close()
})

async function participant(program: string, script: Script, path = ''): Promise<CommandParticipant> {
  const made = await scriptedModel(script)
  model = made
  one = makeCommandParticipant({
    agent: { id: 'c', kind: 'command', harness: 'claude-code', command: program, args: [], model: null },
    mcp: { url: door.url, token: door.token },
    start: (job) => wall.start(job),
    environment: { PATH: process.env.PATH, ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: made.url + path },
  })
  const taking = one
  door.offer = (call) => taking.offer(call)
  return one
}

function judging(seen: JudgedResponse[]): Judge {
  return (response) => {
    seen.push(response)
    if (response.calls.length === 0) return { type: 'refused', error: NO_TOOL_ERROR }
    const isGood = response.calls.length === 1 && JSON.stringify(response.calls).includes('agent1')
    return isGood ? { type: 'accepted' } : { type: 'refused', error: BAD_ERROR }
  }
}

const conversation = (messages = ASK) => ({ messages, tools: [], signal: new AbortController().signal })

describe(`Claude Code ${CLAUDE_VERSION} as a participant`, () => {
  it(
    '[REQ-AGENTCLI-8] votes wrongly, is refused in the same process, then votes rightly and ends',
    async ({ skip }) => {
      const found = claudeCode()
      if (!found.ok) return skip(found.reason)
      const seen: JudgedResponse[] = []
      const taking = await participant(found.program, [BAD, GOOD])
      const outcome = await runTurn(taking, conversation(), (response) => {
        expect(processesWith(door.token)).toEqual([])
        expect(processesWith('--strict-mcp-config').length).toBeGreaterThan(0)
        return judging(seen)(response)
      })
      expect(outcome).toMatchObject({ type: 'accepted', responses: 2, usage: { input: 20, output: 20 } })
      expect(seen.map(({ calls }) => calls.map(({ name, arguments: args }) => [name, args]))).toEqual([
        [['vote', BAD.input]],
        [['vote', GOOD.input]],
      ])
      taking.settle(outcome.messages)
      await until(() => processesWith(found.program).length === 0, 60_000)
      expect(model?.turns.map(({ results }) => results)).toEqual([
        [],
        [{ text: BAD_ERROR, isError: true }],
        [{ text: 'Accepted.', isError: false }],
      ])
      expect(model?.turns[0]?.tools.filter((name) => !name.startsWith('mcp__phaselock__'))).toEqual([])
      expect(model?.turns[0]?.tools).toHaveLength(3)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-AGENTCLI-4] a vote and an answer in one message are judged together, though it makes one call after the other',
    async ({ skip }) => {
      const found = claudeCode()
      if (!found.ok) return skip(found.reason)
      const seen: JudgedResponse[] = []
      const taking = await participant(found.program, [[GOOD, ANSWER], GOOD])
      const outcome = await runTurn(taking, conversation(), judging(seen))
      expect(outcome).toMatchObject({ type: 'accepted', responses: 2 })
      expect(seen.map(({ calls }) => calls.map((call) => call.name))).toEqual([['vote', 'new_answer'], ['vote']])
      expect(model?.turns[1]?.results).toEqual([
        { text: BAD_ERROR, isError: true },
        { text: BAD_ERROR, isError: true },
      ])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-AGENTCLI-8] ends in text, and is started again with what it had written',
    async ({ skip }) => {
      const found = claudeCode()
      if (!found.ok) return skip(found.reason)
      const seen: JudgedResponse[] = []
      const taking = await participant(found.program, (prompt) =>
        prompt.includes('What you had written before this restart (5 characters):\\nDone.') ? [GOOD] : [],
      )
      const outcome = await runTurn(taking, conversation(), judging(seen))
      expect(outcome).toMatchObject({ type: 'restart', message: NO_TOOL_ERROR, buffer: { text: 'Done.', chars: 5 } })
      if (outcome.type !== 'restart') return
      const messages = retryMessages(ASK, outcome.message, outcome)
      expect(await runTurn(taking, conversation([...messages]), judging(seen))).toMatchObject({ type: 'accepted' })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-AGENTCLI-6] a model that cannot be reached at its address is reported as a failure',
    async ({ skip }) => {
      const found = claudeCode()
      if (!found.ok) return skip(found.reason)
      const outcome = await runTurn(await participant(found.program, [], '/nowhere'), conversation(), judging([]))
      expect(outcome).toMatchObject({ type: 'failed', failure: { code: 'exited' } })
      expect(JSON.stringify(outcome)).toContain('exit code 1: ')
      expect(processesWith(found.program)).toEqual([])
    },
    RUN_MS_MAX,
  )
})
