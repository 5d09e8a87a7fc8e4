import { describe, expect, it } from 'vitest'
import { FAILURES } from '../../src/participants/model/failures.js'
import { parseArguments } from '../../src/participants/model/parse-arguments.js'
import { redact } from '../../src/participants/model/redact.js'
import type { ChatPart, Message, Participant } from '../../src/participants/participant.js'
import { capture, retryMessages } from '../../src/participants/retry-prompt.js'
import { type Judge, runTurn, TURN_LIMITS } from '../../src/participants/run-turn.js'
import { makeScriptedParticipant, type ScriptStep } from '../../src/participants/scripted-participant.js'

const CAPTURED_CHARS_MAX = 120_000
const ASK: readonly Message[] = [{ role: 'user', text: 'What is it?' }]
const conversation = () => ({ messages: ASK, tools: [], signal: new AbortController().signal })
const step = (text: string, ...names: readonly string[]): ScriptStep => ({
  delayMs: 0,
  text,
  toolCalls: names.map((name) => ({ name, arguments: { name } })),
})

async function partsOf(participant: Participant, signal = new AbortController().signal): Promise<ChatPart[]> {
  const parts: ChatPart[] = []
  for await (const part of participant.chat(ASK, [], signal)) parts.push(part)
  return parts
}

describe('a script', () => {
  it('[REQ-PARTICIPANT-14] a script that is at its end fails, and says for which answer', async () => {
    const participant = makeScriptedParticipant({ id: 'd', script: [step('Thinking')] })
    await partsOf(participant)
    const failure = {
      code: 'script_ended',
      message: expect.stringContaining('d was asked for answer 2, and its script has 1'),
    }
    expect(await partsOf(participant)).toMatchObject([{ type: 'end', reason: 'failed', failure }])
  })

  it('[REQ-PARTICIPANT-14] each chat takes the next step, after its delay, and two runs are the same to the letter', async () => {
    const script = [{ ...step('Thinking', 'bash', 'vote'), delayMs: 50 }, step('', 'vote')]
    const run = async (): Promise<ChatPart[][]> => {
      const participant = makeScriptedParticipant({ id: 'd', script })
      return [await partsOf(participant), await partsOf(participant)]
    }
    const from = Date.now()
    const first = await run()
    expect(Date.now() - from).toBeGreaterThanOrEqual(45)
    expect(first).toMatchObject([
      [
        { type: 'text', text: 'Thinking' },
        { type: 'tool_call', id: 'call-1', name: 'bash', arguments: { name: 'bash' } },
        { type: 'tool_call', id: 'call-2', name: 'vote' },
        { type: 'usage', input: 0 },
        { type: 'end', reason: 'tool_calls' },
      ],
      [{ type: 'tool_call', id: 'call-3', name: 'vote' }, { type: 'usage' }, { type: 'end', reason: 'tool_calls' }],
    ])
    expect(await run()).toEqual(first)
  })

  it('[REQ-PARTICIPANT-14] calling a script off ends its delay', async () => {
    const participant = makeScriptedParticipant({ id: 'd', script: [{ ...step('Late', 'vote'), delayMs: 60_000 }] })
    const parts = await partsOf(participant, AbortSignal.timeout(30))
    expect(parts).toMatchObject([{ type: 'end', reason: 'failed', failure: { code: 'aborted' } }])
  })
})

describe('a turn', () => {
  const ends: Judge = ({ calls }) =>
    calls.some(({ name }) => name === 'vote') ? { type: 'accepted' } : { type: 'refused', error: 'No.' }

  it('[REQ-PARTICIPANT-13] answers without an end are bounded, and so is what they say', async () => {
    const script = Array.from({ length: 9 }, () => step('x'.repeat(100), 'bash'))
    const turn = (limits: Partial<typeof TURN_LIMITS>) =>
      runTurn(makeScriptedParticipant({ id: 'd', script }), conversation(), ends, { ...TURN_LIMITS, ...limits })
    expect(await turn({ responsesMax: 3 })).toMatchObject({
      type: 'failed',
      failure: { code: 'too_many_responses' },
      responses: 3,
    })
    expect(await turn({ charsMax: 250 })).toMatchObject({
      type: 'failed',
      failure: { code: 'too_large' },
      responses: 3,
    })
  })

  it('[REQ-PARTICIPANT-13] a stream without an end part is a failure, whatever it called', async () => {
    const participant: Participant = {
      id: 'x',
      takesToolErrors: true,
      chat: async function* () {
        yield { type: 'tool_call', id: '1', name: 'vote', arguments: {} }
      },
    }
    expect(await runTurn(participant, conversation(), ends)).toMatchObject({
      type: 'failed',
      failure: { code: 'disconnected' },
      calls: [],
    })
  })

  it('[REQ-PARTICIPANT-13] cancellation and time-out are distinguished', async () => {
    const late = () => makeScriptedParticipant({ id: 'd', script: [{ ...step('', 'vote'), delayMs: 60_000 }] })
    const timed = await runTurn(late(), conversation(), ends, { ...TURN_LIMITS, totalMs: 30 })
    expect(timed).toMatchObject({ type: 'failed', failure: { code: 'timed_out' } })
    const off = await runTurn(late(), { ...conversation(), signal: AbortSignal.timeout(30) }, ends)
    expect(off).toMatchObject({ type: 'failed', failure: { code: 'aborted' } })
  })

  it('[REQ-PARTICIPANT-9] every call gets one result: its own, or the error', async () => {
    const participant = makeScriptedParticipant({ id: 'd', script: [step('', 'bash', 'nothing'), step('', 'vote')] })
    const judge: Judge = ({ number }) =>
      number === 1
        ? { type: 'refused', error: 'No such tool.', results: [{ callId: 'call-1', text: 'ran', isError: false }] }
        : { type: 'accepted' }
    const { messages } = await runTurn(participant, conversation(), judge)
    expect(
      messages.flatMap((message) => (message.role === 'tool' ? [[message.callId, message.text, message.isError]] : [])),
    ).toEqual([
      ['call-1', 'ran', false],
      ['call-2', 'No such tool.', true],
      ['call-3', 'Accepted.', false],
    ])
  })

  it('[REQ-PARTICIPANT-9] results of tools are handed over also to one that takes no tool errors', async () => {
    const participant = makeScriptedParticipant({
      id: 'd',
      script: [step('', 'bash'), step('', 'vote')],
      takesToolErrors: false,
    })
    const judge: Judge = ({ calls }) =>
      calls[0]?.name === 'bash'
        ? { type: 'go_on', results: [{ callId: 'call-1', text: 'ran', isError: false }] }
        : { type: 'accepted' }
    expect(await runTurn(participant, conversation(), judge)).toMatchObject({ type: 'accepted', responses: 2 })
  })

  it('[REQ-PARTICIPANT-10] a judge can ask for a restart or an end although the answer could be told inline', async () => {
    const turn = (judge: Judge) =>
      runTurn(makeScriptedParticipant({ id: 'd', script: [step('Hm', 'vote')] }), conversation(), judge)
    const again = { type: 'restart', message: 'Again.' } as const
    expect(await turn(() => again)).toMatchObject({ ...again, messages: ASK, buffer: { text: 'Hm', chars: 2 } })
    expect(await turn(() => ({ type: 'stop', message: 'Enough.' }))).toMatchObject({
      type: 'stopped',
      message: 'Enough.',
    })
  })

  it('[REQ-PARTICIPANT-12] news are not requested if nobody would read them', async () => {
    let asked = 0
    const news = (): readonly string[] => {
      asked += 1
      return ['news']
    }
    for (const script of [[step('', 'vote')], [step('text only')]]) {
      const outcome = await runTurn(makeScriptedParticipant({ id: 'd', script }), { ...conversation(), news }, ends)
      expect(outcome.told).toEqual([])
    }
    expect(asked).toBe(0)
  })
})

describe('what is captured', () => {
  it('[REQ-PARTICIPANT-10] characters are counted as code points, none is halved, and half ones are replaced', () => {
    expect(capture('🙂'.repeat(3))).toEqual({ text: '🙂🙂🙂', chars: 3 })
    const long = capture(`${'x'.repeat(CAPTURED_CHARS_MAX - 1)}🙂🙂`)
    expect(long.chars).toBe(CAPTURED_CHARS_MAX + 1)
    expect(long.text.endsWith('x🙂')).toBe(true)
    expect(capture('a\ud83d')).toEqual({ text: 'a\ufffd', chars: 2 })
    expect(capture('')).toEqual({ text: '', chars: 0 })
  })

  it('[REQ-PARTICIPANT-10] a retry carries at most 120,000 characters, calls included, and says what was cut', () => {
    const buffer = capture('y'.repeat(CAPTURED_CHARS_MAX + 5))
    const [cut] = retryMessages([], 'Again.', { buffer, calls: [] })
    expect(cut?.role === 'user' && cut.text.slice(0, 110)).toBe(
      `Again.\n\nWhat you had written before this restart, cut: the first 120000 of 120005 characters:\n${'y'.repeat(16)}`,
    )
    const call = { id: '1', name: 'new_answer', arguments: { content: 'z'.repeat(CAPTURED_CHARS_MAX) } }
    const [both] = retryMessages([], 'Again.', { buffer: capture('abc'), calls: [call, call] })
    const text = both?.role === 'user' ? both.text : ''
    expect(text).toContain('without effect, cut: the first 119997 of 120014 characters')
    expect(text).toContain('without effect, cut: the first 0 of 120014 characters')
    expect(text.length).toBeLessThan(CAPTURED_CHARS_MAX + 500)
  })
})

describe('arguments and failures', () => {
  it('[REQ-PARTICIPANT-11] arguments nested deeper than any tool needs stay text, brackets in texts do not count', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(parseArguments(deep)).toBe(deep)
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
    expect(parseArguments(nested(64))).toEqual(JSON.parse(nested(64)))
    expect(parseArguments(nested(65))).toBe(nested(65))
    expect(parseArguments(JSON.stringify({ a: '['.repeat(500) }))).toEqual({ a: '['.repeat(500) })
    expect(parseArguments('{"a":"\\"[{","b":[1]}')).toEqual({ a: '"[{', b: [1] })
    expect(parseArguments(' ')).toEqual({})
    expect(parseArguments('{"a":')).toBe('{"a":')
  })

  it('[REQ-PARTICIPANT-11] arguments that reach for a prototype stay text, however they spell it', () => {
    for (const text of ['{"__proto__":{"a":1}}', '{"a":[{"\\u005f_proto__":1}]}'])
      expect(parseArguments(text)).toBe(text)
    expect(parseArguments('{"a":"__proto__"}')).toEqual({ a: '__proto__' })
  })

  it('[REQ-PARTICIPANT-2] a piece of the key is taken out of what servers say, and control characters are', () => {
    expect(redact('a sk-abcdefgh-1234\u0000\u001b[31m b', 'sk-abcdefgh-1234')).toBe('a [key] [31m b')
    expect(redact('key abcdefgh-12*** no', 'sk-abcdefgh-1234')).toBe('key [key]*** no')
    expect(redact('short', null)).toBe('short')
    expect([...redact('🙂'.repeat(2_000), 'key-1234')].length).toBeLessThanOrEqual(301)
  })

  it('[REQ-PARTICIPANT-1] every failure has a title and a remedy', () => {
    for (const { title, remedy } of Object.values(FAILURES)) {
      expect(title).toMatch(/^[A-Z].*[^.]$/)
      expect(remedy).toMatch(/^[A-Z].*\.$/)
    }
  })
})
