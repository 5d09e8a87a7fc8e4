import { createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ChatFailure } from '../../src/participants/model/failures.js'
import { type ModelLimits, makeModelParticipant } from '../../src/participants/model/model-participant.js'
import type { ChatPart, Message } from '../../src/participants/participant.js'
import { ANTHROPIC, DIALECTS, type Dialect, ModelServer } from './model-server.js'

const KEY = 'sk-test-0123456789abcdefghijklmnop'
const ASK: readonly Message[] = [
  { role: 'system', text: 'You answer.' },
  { role: 'user', text: 'What is it?' },
]
const CALL = { id: 'call_1', name: 'new_answer', pieces: ['{"content":', '"42"}'] }
const TOOL = { name: 'new_answer', description: 'Answers.', parameters: { type: 'object' } }

const unhandled: unknown[] = []
const note = (reason: unknown): void => {
  unhandled.push(reason)
}

let server: ModelServer
beforeAll(() => {
  process.on('unhandledRejection', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
})
beforeEach(async () => {
  server = await ModelServer.start()
})
afterEach(async () => {
  await server.stop()
  // Rejections are reported a turn after they happen.
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(unhandled.splice(0)).toEqual([])
})

interface Asking {
  readonly limits?: Partial<ModelLimits>
  readonly baseUrl?: string
  readonly signal?: AbortSignal
  readonly apiKey?: string | null
}

async function ask(dialect: Dialect, asking: Asking = {}): Promise<ChatPart[]> {
  const participant = makeModelParticipant({
    id: 'a',
    provider: dialect.provider,
    baseUrl: asking.baseUrl ?? server.url,
    model: 'm',
    apiKey: asking.apiKey === undefined ? KEY : asking.apiKey,
    limits: { backoffMs: 5, ...asking.limits },
    chance: () => 0.5,
  })
  const parts: ChatPart[] = []
  for await (const part of participant.chat(ASK, [TOOL], asking.signal ?? new AbortController().signal))
    parts.push(part)
  return parts
}

async function failureOf(dialect: Dialect, asking: Asking = {}): Promise<ChatFailure> {
  const parts = await ask(dialect, asking)
  const last = parts.at(-1)
  expect(parts.filter((part) => part.type === 'end')).toHaveLength(1)
  expect(parts.filter((part) => part.type === 'tool_call')).toEqual([])
  expect(JSON.stringify(parts)).not.toContain('sk-test')
  expect(JSON.stringify(parts)).not.toContain('0123456789')
  if (last?.type !== 'end' || last.reason !== 'failed') throw new Error(`it ended with ${JSON.stringify(last)}`)
  return last.failure
}

describe.each(DIALECTS)('a model behind $provider', (dialect) => {
  const answer = (): string[] => dialect.answer({ text: ['So ', 'it is.'], calls: [CALL] })
  const half = (): string[] => dialect.answer({ text: ['So '], calls: [CALL], cut: true })

  it('[REQ-PARTICIPANT-1] nobody listening is a failure, told with the reason of the system', async () => {
    const holder = createServer()
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
    const { port } = holder.address() as { port: number }
    await new Promise((resolve) => holder.close(resolve))
    const failure = await failureOf(dialect, { baseUrl: `http://127.0.0.1:${port}/v1` })
    expect(failure).toMatchObject({ code: 'unreachable', status: null, attempts: 1 })
    expect(failure.message).toContain('ECONNREFUSED')
  })

  it('[REQ-PARTICIPANT-2] a key that is not accepted is not tried again, and no word of the answer to it is repeated', async () => {
    const body = JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY.slice(0, 14)}***` } })
    server.will({ status: 401, headers: { 'content-type': 'application/json' }, acts: [body] })
    expect(await failureOf(dialect)).toMatchObject({ code: 'unauthorized', status: 401, attempts: 1 })
    expect(server.asked).toHaveLength(1)
  })

  it('[REQ-PARTICIPANT-2] a server that quotes the key in an error does not get it into the failure', async () => {
    const message = `Bad request with key ${KEY} and with ${KEY.slice(5, 20)}: the model m is unknown`
    const body = JSON.stringify({ error: { message } })
    server.will({ status: 400, headers: { 'content-type': 'application/json' }, acts: [body] })
    const failure = await failureOf(dialect)
    expect(failure).toMatchObject({ code: 'request_rejected', status: 400 })
    expect(failure.message).toContain('Bad request with key [key] and with [key]: the model m is unknown')
  })

  it('[REQ-PARTICIPANT-3] 429 is tried again after the time that the server asks for', async () => {
    server.will({ status: 429, headers: { 'retry-after': '0.2' }, acts: [] }, answer())
    const from = Date.now()
    const parts = await ask(dialect)
    expect(Date.now() - from).toBeGreaterThanOrEqual(190)
    expect(parts.at(-1)).toEqual({ type: 'end', reason: 'tool_calls' })
    expect(server.asked).toHaveLength(2)
  })

  it('[REQ-PARTICIPANT-3] a server that asks for more patience than there is gets no second request', async () => {
    server.will({ status: 429, headers: { 'retry-after': '3600' }, acts: [] }, answer())
    expect(await failureOf(dialect)).toMatchObject({ code: 'rate_limited', status: 429, attempts: 1 })
    expect(server.asked).toHaveLength(1)
  })

  it('[REQ-PARTICIPANT-3] the longest wait is granted, and not a moment more', async () => {
    const limits = { retryAfterMsMax: 100 }
    server.will({ status: 503, headers: { 'retry-after': '0.1' }, acts: [] }, answer())
    expect((await ask(dialect, { limits })).at(-1)).toEqual({ type: 'end', reason: 'tool_calls' })
    server.will({ status: 503, headers: { 'retry-after': '0.101' }, acts: [] }, answer())
    expect(await failureOf(dialect, { limits })).toMatchObject({ code: 'server_error', attempts: 1 })
  })

  it('[REQ-PARTICIPANT-3] a wait that would go beyond the time limit is not begun', async () => {
    server.will({ status: 503, headers: { 'retry-after': '5' }, acts: [] }, answer())
    const from = Date.now()
    expect(await failureOf(dialect, { limits: { totalMs: 4_000 } })).toMatchObject({ code: 'server_error' })
    expect(Date.now() - from).toBeLessThan(4_000)
  })

  it('[REQ-PARTICIPANT-3] 500 is tried again, and after the last attempt the failure says how many there were', async () => {
    const broken = { status: 500, headers: { 'content-type': 'text/html' }, acts: ['<html>down</html>'] }
    server.will(broken, broken, broken, broken, answer())
    expect(await failureOf(dialect)).toMatchObject({ code: 'server_error', status: 500, attempts: 4 })
    expect(server.asked).toHaveLength(4)
  })

  it('[REQ-PARTICIPANT-3] nothing is tried again once the answer has begun', async () => {
    server.will([half()[0] ?? '', 'cut'], answer())
    expect(await failureOf(dialect)).toMatchObject({ code: 'disconnected', attempts: 1 })
    expect(server.asked).toHaveLength(1)
  })

  it('[REQ-PARTICIPANT-4] an answer that is cut in the middle keeps its text and has no calls', async () => {
    server.will([...half(), 'cut'])
    const parts = await ask(dialect)
    expect(parts[0]).toEqual({ type: 'text', text: 'So ' })
    expect(parts.at(-1)).toMatchObject({ type: 'end', reason: 'failed', failure: { code: 'disconnected' } })
    expect(parts.filter((part) => part.type === 'tool_call')).toEqual([])
  })

  it('[REQ-PARTICIPANT-4] an answer that ends politely before it is complete has no calls either', async () => {
    server.will(half())
    expect(await failureOf(dialect)).toMatchObject({ code: 'disconnected' })
  })

  it('[REQ-PARTICIPANT-4] an empty stream is no answer', async () => {
    server.will([])
    expect(await failureOf(dialect)).toMatchObject({ code: 'disconnected' })
  })

  it('[REQ-PARTICIPANT-4] a chunk that is not JSON ends the answer, first or later', async () => {
    server.will(['data: {"choices": [tru\n\n', ...answer()])
    expect(await failureOf(dialect)).toMatchObject({ code: 'broken_stream' })
    server.will([...half(), 'data: {]\n\n', ...answer()])
    expect(await failureOf(dialect)).toMatchObject({ code: 'broken_stream' })
  })

  it('[REQ-PARTICIPANT-4] an error that the server sends inside the stream ends the answer with its words', async () => {
    server.will([...half(), dialect.error, ...answer()])
    const later = await failureOf(dialect)
    expect(later).toMatchObject({ code: 'server_error' })
    expect(later.message).toContain('the engine is overloaded')
    server.will([dialect.error])
    expect(await failureOf(dialect)).toMatchObject({ code: 'server_error' })
  })

  it.each(['application/json', 'text/html', 'text/event-streams', ''])(
    '[REQ-PARTICIPANT-4] an answer of the type "%s" is not read',
    async (type) => {
      server.will({ headers: { 'content-type': type }, acts: answer() })
      expect(await failureOf(dialect)).toMatchObject({ code: 'not_a_stream', status: 200 })
    },
  )

  it('[REQ-PARTICIPANT-2] a redirect is not followed', async () => {
    const other = await ModelServer.start()
    other.will(answer())
    server.will({ status: 307, headers: { location: `${other.url}${dialect.path.slice(3)}` }, acts: [] })
    expect(await failureOf(dialect)).toMatchObject({ code: 'redirected', status: 307 })
    expect(other.asked).toEqual([])
    await other.stop()
  })

  it('[REQ-PARTICIPANT-5] an answer that does not begin is ended, and so is its connection', async () => {
    server.will(['hang'])
    expect(await failureOf(dialect, { limits: { firstByteMs: 100 } })).toMatchObject({ code: 'no_first_byte' })
    await server.asked[0]?.closed
  })

  it('[REQ-PARTICIPANT-5] a stream that falls silent is ended, and so is its connection', async () => {
    server.will([...half(), 'hang'])
    expect(await failureOf(dialect, { limits: { silenceMs: 100 } })).toMatchObject({ code: 'silent' })
    await server.asked[0]?.closed
  })

  it('[REQ-PARTICIPANT-5] signs of life alone do not outlast the time limit', async () => {
    server.will([...half(), ...Array.from({ length: 200 }, () => [': alive\n\n', { waitMs: 20 }]).flat()])
    expect(await failureOf(dialect, { limits: { silenceMs: 5_000, totalMs: 800 } })).toMatchObject({
      code: 'timed_out',
    })
    await server.asked[0]?.closed
  })

  it('[REQ-PARTICIPANT-5] a refusal whose text never comes is told by its status', async () => {
    server.will({ status: 400, acts: ['hang'] })
    expect(await failureOf(dialect, { limits: { firstByteMs: 100 } })).toMatchObject({ code: 'request_rejected' })
  })

  it('[REQ-PARTICIPANT-6] calls are counted when they begin, and a refusal is not read to its end', async () => {
    const calls = Array.from({ length: 9 }, (_, index) => ({ ...CALL, id: `call_${index}` }))
    server.will([...dialect.answer({ calls, cut: true }), 'hang'])
    expect(await failureOf(dialect, { limits: { callsMax: 8 } })).toMatchObject({ code: 'too_large' })
    server.will({ status: 400, acts: [...Array.from({ length: 8 }, () => 'no '.repeat(8 * 1024)), 'hang'] })
    expect(await failureOf(dialect)).toMatchObject({ code: 'request_rejected' })
    for (const asked of server.asked) await asked.closed
  })

  it('[REQ-PARTICIPANT-6] a line without an end, an answer without an end and arguments without an end are cut off', async () => {
    const flood = Array.from({ length: 64 }, () => 'x'.repeat(64 * 1024))
    server.will(['data: ', ...flood, 'hang'])
    expect(await failureOf(dialect, { limits: { lineBytesMax: 256 * 1024 } })).toMatchObject({ code: 'too_large' })
    server.will([...flood.map((piece) => `: ${piece}\n\n`), 'hang'])
    expect(await failureOf(dialect, { limits: { wireBytesMax: 256 * 1024 } })).toMatchObject({ code: 'too_large' })
    const pieces = Array.from({ length: 50 }, () => 'y'.repeat(1_000))
    server.will(dialect.answer({ text: pieces }))
    expect(await failureOf(dialect, { limits: { textCharsMax: 10_000 } })).toMatchObject({ code: 'too_large' })
    server.will(dialect.answer({ calls: [{ ...CALL, pieces }] }))
    expect(await failureOf(dialect, { limits: { argumentsCharsMax: 10_000 } })).toMatchObject({ code: 'too_large' })
    const calls = Array.from({ length: 9 }, (_, index) => ({ ...CALL, id: `call_${index}` }))
    server.will(dialect.answer({ calls }))
    expect(await failureOf(dialect, { limits: { callsMax: 8 } })).toMatchObject({ code: 'too_large' })
    for (const asked of server.asked) await asked.closed
  })

  it('[REQ-PARTICIPANT-7] calling an answer off closes its connection, before and after it has begun', async () => {
    for (const acts of [['hang'], [...half(), 'hang']] as const) {
      server.will(acts)
      const controller = new AbortController()
      setTimeout(() => controller.abort(), 100)
      expect(await failureOf(dialect, { signal: controller.signal })).toMatchObject({ code: 'aborted' })
      await server.asked.at(-1)?.closed
    }
  })

  it('[REQ-PARTICIPANT-7] calling off ends a wait between attempts, and nothing is asked when it was called off before', async () => {
    server.will({ status: 429, headers: { 'retry-after': '30' }, acts: [] })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 700)
    expect(await failureOf(dialect, { signal: controller.signal })).toMatchObject({ code: 'aborted' })
    expect(await failureOf(dialect, { signal: AbortSignal.abort() })).toMatchObject({ code: 'aborted' })
    expect(server.asked).toHaveLength(1)
  })

  it('[REQ-PARTICIPANT-7] a reader that leaves closes the connection', async () => {
    server.will([...half(), 'hang'])
    const participant = makeModelParticipant({
      id: 'a',
      provider: dialect.provider,
      baseUrl: server.url,
      model: 'm',
      apiKey: KEY,
    })
    for await (const part of participant.chat(ASK, [], new AbortController().signal)) {
      expect(part).toEqual({ type: 'text', text: 'So ' })
      break
    }
    await server.asked[0]?.closed
  })

  it('[REQ-PARTICIPANT-2] without a key none is looked for in the environment', async () => {
    process.env.ANTHROPIC_API_KEY = 'sk-of-somebody-else'
    process.env.OPENAI_API_KEY = 'sk-of-somebody-else'
    try {
      server.will(answer())
      await ask(dialect, { apiKey: null })
      expect(JSON.stringify(server.asked[0]?.headers)).not.toContain('somebody')
    } finally {
      delete process.env.ANTHROPIC_API_KEY
      delete process.env.OPENAI_API_KEY
    }
  })

  it('[REQ-PARTICIPANT-2] a key that no header can hold is a failure that does not show it', async () => {
    expect(await failureOf(dialect, { apiKey: `${KEY}\nx: y` })).toMatchObject({ code: 'client_fault' })
    expect(server.asked).toEqual([])
  })
})

describe('a model behind anthropic', () => {
  it('[REQ-PARTICIPANT-4] a call that was begun and never completed takes the whole answer with it', async () => {
    const acts = ANTHROPIC.answer({ text: ['So '], calls: [CALL] })
    const lastStop = acts.findLastIndex((act) => act.includes('content_block_stop'))
    server.will(acts.filter((_, index) => index !== lastStop))
    expect(await failureOf(ANTHROPIC)).toMatchObject({ code: 'broken_stream' })
  })
})
