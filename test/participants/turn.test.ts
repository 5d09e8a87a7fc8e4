import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeModelParticipant } from '../../src/participants/model/model-participant.js'
import type { ChatPart, Message, Participant, ToolSpec } from '../../src/participants/participant.js'
import { retryMessages } from '../../src/participants/retry-prompt.js'
import { type Judge, type JudgedResponse, runTurn, TURN_LIMITS } from '../../src/participants/run-turn.js'
import { DIALECTS, ModelServer } from './model-server.js'

const ASK: readonly Message[] = [
  { role: 'system', text: 'You answer.' },
  { role: 'user', text: 'What is it?' },
]
const TOOLS: readonly ToolSpec[] = [
  {
    name: 'new_answer',
    description: 'Gives an answer.',
    parameters: { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] },
  },
  {
    name: 'vote',
    description: 'Votes for an answer.',
    parameters: { type: 'object', properties: { agent_id: { type: 'string' } }, required: ['agent_id'] },
  },
]
const BAD_VOTE = { id: 'call_1', name: 'vote', pieces: ['{"agent_id":', ' "agent5"}'] }
const GOOD_VOTE = { id: 'call_2', name: 'vote', pieces: ['{"agent_id": "agent1"}'] }
const BAD_VOTE_ERROR = "Retry (1/3): Invalid agent_id 'agent5'. Valid agents: agent1, agent2"
const NO_TOOL_ERROR = 'Retry (1/3): No tool called. Required: vote or new_answer'

/** Accepts a vote for agent1, and nothing else. */
function judging(seen: JudgedResponse[]): Judge {
  return (response) => {
    seen.push(response)
    const call = response.calls[0]
    if (call === undefined) return { type: 'refused', error: NO_TOOL_ERROR }
    if (JSON.stringify(call.arguments) === '{"agent_id":"agent1"}') return { type: 'accepted' }
    return { type: 'refused', error: BAD_VOTE_ERROR }
  }
}

let server: ModelServer
beforeEach(async () => {
  server = await ModelServer.start()
})
afterEach(() => server.stop())

describe.each(DIALECTS)('a turn of a model behind $provider', (dialect) => {
  const conversation = () => ({ messages: ASK, tools: TOOLS, signal: new AbortController().signal })
  const model = (takesToolErrors = true): Participant =>
    makeModelParticipant({
      id: 'a',
      provider: dialect.provider,
      baseUrl: server.url,
      model: 'm',
      apiKey: 'sk-test-1',
      takesToolErrors,
    })

  it('[REQ-PARTICIPANT-8] text, reasoning, calls, usage and end come as they are streamed, the key in its header', async () => {
    const calls = [GOOD_VOTE, { id: 'call_3', name: 'list', pieces: [] }]
    server.will(
      dialect.answer({ reasoning: 'Hm.', text: ['So ', 'be it 🙂.'], calls }).flatMap((act) => [act, { waitMs: 2 }]),
    )
    const parts: ChatPart[] = []
    for await (const part of model().chat(ASK, TOOLS, new AbortController().signal)) parts.push(part)
    expect(parts.filter((part) => part.type === 'reasoning').map(({ text }) => text)).toContain('Hm.')
    expect(parts.filter((part) => part.type !== 'reasoning')).toEqual([
      { type: 'text', text: 'So ' },
      { type: 'text', text: 'be it 🙂.' },
      { type: 'tool_call', id: 'call_2', name: 'vote', arguments: { agent_id: 'agent1' } },
      { type: 'tool_call', id: 'call_3', name: 'list', arguments: {} },
      { type: 'usage', input: 20, output: 7, cacheRead: 10, cacheWrite: dialect.provider === 'anthropic' ? 5 : 0 },
      { type: 'end', reason: 'tool_calls' },
    ])
    expect(server.asked[0]?.path).toBe(dialect.path)
    expect(dialect.told(server.asked[0]?.body ?? {})).toEqual(['system: You answer.', 'user: What is it?'])
    const { authorization, 'x-api-key': key } = server.asked[0]?.headers ?? {}
    expect(dialect.provider === 'anthropic' ? key : authorization).toMatch(/^(Bearer )?sk-test-1$/)
    expect(JSON.stringify(server.asked[0]?.body.tools)).toContain('Gives an answer.')
  })

  it('[REQ-PARTICIPANT-9] a refused call is answered with an error in the same conversation, and a good one ends the turn', async () => {
    server.will(
      dialect.answer({ reasoning: 'Five?', text: ['I vote.'], calls: [BAD_VOTE] }),
      dialect.answer({ text: ['Again.'], calls: [GOOD_VOTE] }),
    )
    const seen: JudgedResponse[] = []
    const outcome = await runTurn(model(), conversation(), judging(seen))
    expect(outcome).toMatchObject({ type: 'accepted', responses: 2, buffer: { text: 'I vote.Again.', chars: 13 } })
    expect(outcome.usage).toMatchObject({ input: 40, output: 14, cacheRead: 20 })
    expect(seen.map(({ number, text, isInline }) => ({ number, text, isInline }))).toEqual([
      { number: 1, text: 'I vote.', isInline: true },
      { number: 2, text: 'Again.', isInline: true },
    ])
    const told = dialect.told(server.asked[1]?.body ?? {}).filter((line) => line !== 'assistant: undefined')
    expect(told).toEqual([
      'system: You answer.',
      'user: What is it?',
      'assistant: I vote.',
      'call: vote {"agent_id":"agent5"}',
      `${dialect.provider === 'anthropic' ? 'tool error' : 'tool'}: ${BAD_VOTE_ERROR}`,
    ])
    if (dialect.provider === 'anthropic') expect(JSON.stringify(server.asked[1]?.body)).toContain('c2lnbmVk')
  })

  it('[REQ-PARTICIPANT-9] the conversation of an accepted turn can be gone on with', async () => {
    server.will(dialect.answer({ calls: [GOOD_VOTE] }), dialect.answer({ text: ['Done.'] }))
    const outcome = await runTurn(model(), conversation(), judging([]))
    const messages: readonly Message[] = [...outcome.messages, { role: 'user', text: 'Now present it.' }]
    const next = await runTurn(model(), { ...conversation(), messages }, () => ({ type: 'accepted' }))
    expect(next).toMatchObject({ type: 'accepted', buffer: { text: 'Done.' } })
    expect(dialect.told(server.asked[1]?.body ?? {}).slice(-3)).toEqual([
      'call: vote {"agent_id":"agent1"}',
      'tool: Accepted.',
      'user: Now present it.',
    ])
  })

  it('[REQ-PARTICIPANT-10] a turn that ends in text is a restart that carries what was streamed', async () => {
    server.will(dialect.answer({ text: ['A long ', 'thought.'] }), dialect.answer({ calls: [GOOD_VOTE] }))
    const seen: JudgedResponse[] = []
    const outcome = await runTurn(model(), conversation(), judging(seen))
    expect(seen[0]?.isInline).toBe(false)
    expect(outcome).toMatchObject({
      type: 'restart',
      message: NO_TOOL_ERROR,
      buffer: { text: 'A long thought.', chars: 15 },
    })
    if (outcome.type !== 'restart') return
    const messages = retryMessages(ASK, outcome.message, outcome)
    expect(await runTurn(model(), { ...conversation(), messages }, judging(seen))).toMatchObject({ type: 'accepted' })
    const [, told] = dialect.told(server.asked[1]?.body ?? {})
    expect(told).toBe(
      `user: What is it?\n\n${NO_TOOL_ERROR}\n\nWhat you had written before this restart (15 characters):\nA long thought.`,
    )
  })

  it('[REQ-PARTICIPANT-10] a participant that takes no tool errors starts again, with the call it had made', async () => {
    server.will(dialect.answer({ text: ['I vote.'], calls: [BAD_VOTE] }))
    const seen: JudgedResponse[] = []
    const outcome = await runTurn(model(false), conversation(), judging(seen))
    expect(seen[0]?.isInline).toBe(false)
    expect(outcome).toMatchObject({ type: 'restart', message: BAD_VOTE_ERROR, messages: ASK })
    expect(server.asked).toHaveLength(1)
    if (outcome.type !== 'restart') return
    expect(JSON.stringify(retryMessages(ASK, outcome.message, outcome))).toContain(
      'You had called vote, without effect',
    )
  })

  it('[REQ-PARTICIPANT-11] arguments that do not parse reach the judge as they are, and the conversation goes on', async () => {
    const broken = { ...BAD_VOTE, pieces: ['{"agent_id": ', '"agent1'] }
    server.will(dialect.answer({ calls: [broken] }), dialect.answer({ calls: [GOOD_VOTE] }))
    const seen: JudgedResponse[] = []
    expect(await runTurn(model(), conversation(), judging(seen))).toMatchObject({ type: 'accepted' })
    expect(seen[0]?.calls[0]?.arguments).toBe('{"agent_id": "agent1')
    expect(dialect.told(server.asked[1]?.body ?? {})).toContain('call: vote {"unparsed":"{\\"agent_id\\": \\"agent1"}')
  })

  it('[REQ-PARTICIPANT-11] names that no server would take back and ids used twice do not end the conversation', async () => {
    const strange = { id: 'call_1', name: 'rm -rf /; vote', pieces: ['{}'] }
    const twice = { id: 'call_1', name: 'vote', pieces: ['{"agent_id": "agent1"}'] }
    server.will(dialect.answer({ calls: [strange] }), dialect.answer({ calls: [twice] }))
    const seen: JudgedResponse[] = []
    const outcome = await runTurn(model(), conversation(), judging(seen))
    expect(outcome).toMatchObject({ type: 'accepted' })
    expect(seen.map(({ calls }) => calls[0]?.name)).toEqual(['rm -rf /; vote', 'vote'])
    expect(new Set(seen.map(({ calls }) => calls[0]?.id)).size).toBe(2)
    expect(dialect.told(server.asked[1]?.body ?? {})).toContain('call: rm_-rf____vote {}')
  })

  it('[REQ-PARTICIPANT-12] news are told with the last result of the answer that they fell into', async () => {
    const calls = [BAD_VOTE, { id: 'call_9', name: 'vote', pieces: ['{}'] }]
    server.will(dialect.answer({ calls }), dialect.answer({ calls: [GOOD_VOTE] }))
    const pending = ['agent2.1 has arrived.']
    const news = () => pending.splice(0)
    const outcome = await runTurn(model(), { ...conversation(), news }, judging([]))
    expect(outcome).toMatchObject({ type: 'accepted', told: ['agent2.1 has arrived.'] })
    const results = dialect.told(server.asked[1]?.body ?? {}).filter((line) => line.startsWith('tool'))
    expect(results.map((line) => line.includes('agent2.1'))).toEqual([false, true])
    const { messages = [] } = (server.asked[1]?.body ?? {}) as { messages?: { role: string }[] }
    const roles = messages.map(({ role }) => role)
    expect(roles).toEqual(
      dialect.provider === 'anthropic'
        ? ['user', 'assistant', 'user']
        : ['system', 'user', 'assistant', 'tool', 'tool'],
    )
  })

  it('[REQ-PARTICIPANT-13] an answer that failed is not judged, and what was streamed is kept', async () => {
    server.will([...dialect.answer({ text: ['Half a '], calls: [GOOD_VOTE], cut: true }), 'cut'])
    const seen: JudgedResponse[] = []
    const outcome = await runTurn(model(), conversation(), judging(seen))
    expect(outcome).toMatchObject({
      type: 'failed',
      failure: { code: 'disconnected' },
      buffer: { text: 'Half a ' },
      calls: [],
    })
    expect(seen).toEqual([])
  })

  it('[REQ-PARTICIPANT-13] the time limit of a turn ends a stream in the middle and closes its connection', async () => {
    server.will([...dialect.answer({ text: ['Half a '], cut: true }), 'hang'])
    const outcome = await runTurn(model(), conversation(), judging([]), { ...TURN_LIMITS, totalMs: 1_500 })
    expect(outcome).toMatchObject({ type: 'failed', failure: { code: 'timed_out' }, buffer: { text: 'Half a ' } })
    await server.asked[0]?.closed
  })
})
