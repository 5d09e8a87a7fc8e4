import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import {
  type CommandParticipant,
  makeCommandParticipant,
} from '../../src/participants/agent-cli/command-participant.js'
import type { ChatPart, Message } from '../../src/participants/participant.js'
import type { CommandAgent } from '../../src/participants/read-agents.js'
import { retryMessages } from '../../src/participants/retry-prompt.js'
import { type Judge, type JudgedResponse, runTurn, type TurnOutcome } from '../../src/participants/run-turn.js'
import { until } from '../mcp/clients.js'
import { TestDoor } from './command-door.js'
import { AgentScript, type AgentStep, processesWith } from './command-script.js'

const ASK: readonly Message[] = [
  { role: 'system', text: 'You are agent2.' },
  { role: 'user', text: 'Which is it?' },
]
const GOOD: AgentStep = { call: 'vote', with: { agent_id: 'agent1', reason: 'better' } }
const BAD: AgentStep = { call: 'vote', with: { agent_id: 'agent5', reason: 'better' } }
const BAD_ERROR = "Retry (1/3): Invalid agent_id 'agent5'. Valid agents: agent1"
const NO_TOOL_ERROR = 'Retry (1/3): No tool called. Required: vote or new_answer'
const SECRET = 'sk-of-the-operator-1234567890'
const RUN_MS_MAX = 300_000

let wall: Confinement
let wallDir: string
let door: TestDoor
let script: AgentScript
let opened: CommandParticipant[] = []

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
  script = new AgentScript()
})
afterEach(async () => {
  for (const one of opened) await one.close()
  opened = []
  await door.close()
  script.remove()
})

function participant(
  agent: CommandAgent,
  more: Partial<Parameters<typeof makeCommandParticipant>[0]> = {},
): CommandParticipant {
  const made = makeCommandParticipant({
    agent,
    mcp: { url: door.url, token: door.token },
    start: (job) => wall.start(job),
    environment: { PATH: process.env.PATH, ANTHROPIC_API_KEY: SECRET, PHASELOCK_TOKEN: SECRET, SECRET },
    ...more,
  })
  door.offer = (call) => made.offer(call)
  opened.push(made)
  return made
}

/** Accepts a vote for agent1 that is alone, and nothing else. */
function judging(seen: JudgedResponse[]): Judge {
  return (response) => {
    seen.push(response)
    const [call, ...more] = response.calls
    if (call === undefined) return { type: 'refused', error: NO_TOOL_ERROR }
    const isGood = JSON.stringify(call.arguments).includes('agent1') && more.length === 0
    return isGood ? { type: 'accepted' } : { type: 'refused', error: BAD_ERROR }
  }
}

function turn(
  one: CommandParticipant,
  seen: JudgedResponse[],
  more: { readonly messages?: readonly Message[]; readonly signal?: AbortSignal } = {},
): Promise<TurnOutcome> {
  const { messages = ASK, signal = new AbortController().signal } = more
  return runTurn(one, { messages, tools: [], signal }, judging(seen))
}

async function partsOf(one: CommandParticipant, signal = new AbortController().signal): Promise<readonly ChatPart[]> {
  const parts: ChatPart[] = []
  for await (const part of one.chat(ASK, [], signal)) parts.push(part)
  return parts
}

const textOf = (parts: readonly ChatPart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** Homes of agents of this process that are still there. */
const homes = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`phaselock-agent-${process.pid}-`))

describe('an agent that fails', () => {
  it('[REQ-AGENTCLI-6] a missing program is reported before anything is started', async () => {
    const missing = { ...script.does(), command: 'no-such-agent' }
    expect(await partsOf(participant(missing))).toMatchObject([
      {
        type: 'end',
        reason: 'failed',
        failure: { code: 'not_started', message: expect.stringContaining("'no-such-agent'") },
      },
    ])
    const relative = { ...script.does(), command: './agent' }
    expect(await partsOf(participant(relative))).toMatchObject([{ reason: 'failed', failure: { code: 'not_started' } }])
    expect(homes()).toEqual([])
  })

  it('[REQ-AGENTCLI-6] a program in a folder that no agent may see is not started', async () => {
    const wide = { ...script.does(), args: ['/etc/passwd'] }
    expect(await partsOf(participant(wide))).toMatchObject([
      { reason: 'failed', failure: { code: 'not_started', message: expect.stringContaining('/etc') } },
    ])
  })

  it('[REQ-AGENTCLI-6] an exit code other than 0 fails the answer, with the last lines and without the token', async () => {
    const parts = await partsOf(
      participant(script.does({ say: 'On it.' }, { complain: `key ${door.token} refused` }, { leave: 3 })),
    )
    expect(textOf(parts)).toBe('On it.\n')
    const end = parts.at(-1)
    expect(end).toMatchObject({ type: 'end', reason: 'failed', failure: { code: 'exited' } })
    expect(JSON.stringify(end)).toContain('exit code 3: key [key] refused')
    expect(JSON.stringify(parts)).not.toContain(door.token)
  })

  it('[REQ-AGENTCLI-6] output beyond the limits ends it', async () => {
    const limits = { lineCharsMax: 1000, outputBytesMax: 100_000 }
    const long = await partsOf(participant(script.does({ flood: 2000 }, { wait: 60_000 }), { limits }))
    expect(long.at(-1)).toMatchObject({ reason: 'failed', failure: { code: 'too_large' } })
    const parts = await partsOf(participant(script.does({ lines: 2000 }, { wait: 60_000 }), { limits }))
    expect(parts.at(-1)).toMatchObject({ reason: 'failed', failure: { code: 'too_large' } })
  })

  it('[REQ-AGENTCLI-6] one that runs longer than any may is ended', async () => {
    const parts = await partsOf(participant(script.does({ wait: 60_000 }), { limits: { lifeMs: 1000 } }))
    expect(parts.at(-1)).toMatchObject({ reason: 'failed', failure: { code: 'timed_out' } })
  })
})

describe('what an agent knows', () => {
  it('[REQ-AGENTCLI-1] its environment holds nothing of the server but what it needs', async () => {
    const [environment = '', files = ''] = textOf(
      await partsOf(participant(script.does({ tell: 'environment' }, { tell: 'files' }))),
    ).split('\n')
    expect(environment).not.toContain(SECRET)
    expect(environment).not.toContain(door.token)
    const names = Object.keys(JSON.parse(environment) as object)
    expect(names.filter((name) => /^PHASELOCK|KEY|TOKEN|SECRET/.test(name))).toEqual([])
    expect(names).toContain('MCP_CONFIG')
    expect(files).toMatch(/^note\.txt .*\/phaselock-agent-\d+-\w+\/work$/)
    expect(homes()).toEqual([])
  })

  it('[REQ-AGENTCLI-1] the token is in no list of processes and in no output', async () => {
    const one = participant(script.does({ tell: 'token' }, GOOD))
    const lines: (readonly string[])[] = []
    const parts: ChatPart[] = []
    for await (const part of one.chat(ASK, [], new AbortController().signal)) {
      parts.push(part)
      lines.push(processesWith(door.token))
      if (part.type === 'tool_call') expect(processesWith(script.dir).length).toBeGreaterThan(0)
    }
    expect(parts.at(-1)).toEqual({ type: 'end', reason: 'tool_calls' })
    expect(lines.flat()).toEqual([])
    expect(textOf(parts)).toBe('Bearer [secret]\n')
    expect(door.strangers).toBe(0)
  })

  it('[REQ-AGENTCLI-1] it is told the whole conversation on standard input', async () => {
    const text = textOf(await partsOf(participant(script.does({ tell: 'prompt' }))))
    expect(text).toContain('You are agent2.\n\nWhich is it?')
  })
})

describe('a turn of an agent', () => {
  it('[REQ-AGENTCLI-2] a refused call is answered in the same process, which goes on with its context', async () => {
    const seen: JudgedResponse[] = []
    const one = participant(script.does({ say: 'First.' }, BAD, { say: 'Second.' }, GOOD, { say: 'Never told.' }))
    const outcome = await turn(one, seen)
    expect(outcome).toMatchObject({ type: 'accepted', responses: 2 })
    expect(outcome.buffer.text).toBe(`First.\nrefused: ${BAD_ERROR}\nSecond.\n`)
    expect(seen.map(({ isInline, calls }) => [isInline, calls.map((call) => call.name)])).toEqual([
      [true, ['vote']],
      [true, ['vote']],
    ])
    one.settle(outcome.messages)
    await until(() => processesWith(script.dir).length === 0)
    // Its home goes after it.
    await until(() => homes().length === 0)
  })

  it('[REQ-AGENTCLI-2] a name that no tool has is judged like every call', async () => {
    const seen: JudgedResponse[] = []
    const one = participant(script.does({ call: 'execute_command', with: { cmd: 'ls' } }, GOOD))
    expect(await turn(one, seen)).toMatchObject({ type: 'accepted' })
    expect(seen[0]?.calls).toMatchObject([{ name: 'execute_command', arguments: { cmd: 'ls' } }])
  })

  it('[REQ-AGENTCLI-3] one that ends in text ends its answer, and is started again with what it had written', async () => {
    const one = participant(script.does({ say: 'A long thought.' }, { tell: 'prompt' }))
    const outcome = await turn(one, [])
    expect(outcome).toMatchObject({ type: 'restart', message: NO_TOOL_ERROR })
    if (outcome.type !== 'restart') return
    const again = await turn(one, [], { messages: retryMessages(ASK, outcome.message, outcome) })
    const told = `${NO_TOOL_ERROR}\n\nWhat you had written before this restart (${outcome.buffer.chars} characters):\nA long thought.`
    expect(outcome.buffer.text).not.toContain(NO_TOOL_ERROR)
    expect(again.buffer.text).toContain(told)
    expect(homes()).toEqual([])
  })

  it('[REQ-AGENTCLI-4] calls that come together are one response', async () => {
    const seen: JudgedResponse[] = []
    const together = [
      { call: 'vote', with: { agent_id: 'agent1', reason: 'r' } },
      { call: 'new_answer', with: { content: 'Mine.' } },
    ]
    const one = participant(script.does({ calls: together }, GOOD))
    const outcome = await turn(one, seen)
    expect(outcome).toMatchObject({ type: 'accepted', responses: 2 })
    expect(seen[0]?.calls.map((call) => call.name).sort()).toEqual(['new_answer', 'vote'])
    expect(outcome.buffer.text).toBe(`refused: ${BAD_ERROR}\nrefused: ${BAD_ERROR}\n`)
  })

  it('[REQ-AGENTCLI-7] a call outside of a turn counts for nothing, before it and after it', async () => {
    const one = participant(script.does(GOOD, BAD, { call: 'vote', with: { agent_id: 'agent1', reason: 'again' } }))
    const call = { name: 'vote', arguments: { agent_id: 'agent1' } }
    expect(await one.offer(call)).toMatchObject({ isError: true })
    const seen: JudgedResponse[] = []
    const outcome = await turn(one, seen)
    one.settle(outcome.messages)
    await until(() => door.calls.length === 3)
    await until(() => processesWith(script.dir).length === 0)
    expect(seen).toHaveLength(1)
    expect(await one.offer(call)).toMatchObject({ isError: true })
  })

  it('[REQ-AGENTCLI-7] one that ends while its call is judged is started again with the conversation', async () => {
    const one = participant(script.does({ calls: [] }, { tell: 'prompt' }, { child: '0' }, { calls: [] }, BAD), {
      limits: { decisionMs: 1 },
    })
    const seen: JudgedResponse[] = []
    const judge: Judge = async (response) => {
      await until(() => processesWith(script.dir).length === 0)
      seen.push(response)
      return seen.length === 1 ? { type: 'refused', error: BAD_ERROR } : { type: 'stop', message: 'enough' }
    }
    const outcome = await runTurn(one, { messages: ASK, tools: [], signal: new AbortController().signal }, judge)
    expect(outcome).toMatchObject({ type: 'stopped', responses: 2 })
    expect(seen[1]?.text).toContain(`Error of vote: ${BAD_ERROR}`)
  })
})

describe(
  'the end of an agent',
  () => {
    const MARKED = '86461'

    it('[REQ-AGENTCLI-5] calling a turn off ends everything that it started', async () => {
      const controller = new AbortController()
      const one = participant(script.does({ child: MARKED }, { say: 'There.' }, { wait: 600_000 }))
      const ended = runTurn(
        one,
        { messages: ASK, tools: [], signal: controller.signal, watch: () => controller.abort() },
        judging([]),
      )
      expect(await ended).toMatchObject({ type: 'failed', failure: { code: 'aborted' } })
      expect([...processesWith(script.dir), ...processesWith(`sleep\0${MARKED}`)]).toEqual([])
      expect(homes()).toEqual([])
    })

    it('[REQ-AGENTCLI-5] the time limit of a turn ends everything that it started', async () => {
      const one = participant(script.does({ child: MARKED }, { wait: 600_000 }))
      const limits = { responsesMax: 5, charsMax: 10_000, totalMs: 1500 }
      const ended = runTurn(
        one,
        { messages: ASK, tools: [], signal: new AbortController().signal },
        judging([]),
        limits,
      )
      expect(await ended).toMatchObject({ type: 'failed', failure: { code: 'timed_out' } })
      expect([...processesWith(script.dir), ...processesWith(`sleep\0${MARKED}`)]).toEqual([])
    })

    it('[REQ-AGENTCLI-5] after its turn it has a moment to end, and is ended then', async () => {
      const one = participant(script.does({ child: MARKED }, GOOD, { wait: 600_000 }), { limits: { graceMs: 500 } })
      const outcome = await turn(one, [])
      one.settle(outcome.messages)
      expect(processesWith(script.dir).length).toBeGreaterThan(0)
      await until(() => processesWith(script.dir).length + processesWith(`sleep\0${MARKED}`).length === 0)
      await until(() => homes().length === 0)
    })

    it('[REQ-AGENTCLI-5] closing ends it, answers what waits, and nothing is started any more', async () => {
      const one = participant(script.does(GOOD))
      expect((await partsOf(one)).at(-1)).toEqual({ type: 'end', reason: 'tool_calls' })
      await one.close()
      expect(processesWith(script.dir)).toEqual([])
      expect(await partsOf(one)).toMatchObject([{ type: 'end', reason: 'failed', failure: { code: 'aborted' } }])
    })

    it('[REQ-AGENTCLI-5] leaving a stream in the middle leaves nothing running', async () => {
      const one = participant(script.does({ say: 'One.' }, { wait: 600_000 }))
      for await (const part of one.chat(ASK, [], new AbortController().signal)) if (part.type === 'text') break
      expect(processesWith(script.dir)).toEqual([])
      expect(homes()).toEqual([])
    })
  },
  RUN_MS_MAX,
)
