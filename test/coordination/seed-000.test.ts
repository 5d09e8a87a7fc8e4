import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { DIALECTS, ModelServer } from '../participants/model-server.js'
import {
  answer,
  begin,
  ended,
  fileAtEnd,
  model,
  type Status,
  says,
  statusWhen,
  streamed,
  toldIn,
  toolError,
  vote,
} from './council.js'

const KEY = 'councilkey4models0only'
let place: Place
let server: Served
beforeAll(async () => {
  place = await makePlace()
  server = await serve(place, 'tdd', { X: KEY })
})
afterAll(async () => {
  await server?.stop()
  // Nothing that the server says holds a key.
  expect(server?.output()).not.toContain(KEY)
  place?.remove()
})

let models: ModelServer
beforeEach(async () => {
  models = await ModelServer.start()
})
afterEach(() => models.stop())

const fileOf = (id: string): string => join(place.stateDir, 'runs', id, 'status.json')
const written = (id: string): Status => JSON.parse(readFileSync(fileOf(id), 'utf8')) as Status

/** `status.json` on disk once the run is over. */
async function statusAtEnd(id: string): Promise<Status> {
  await ended(server, id)
  return JSON.parse(await fileAtEnd(place.stateDir, id)) as Status
}

const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one)
const NOT_WORKFLOW = 'Retry (1/3): Called execute_command (not workflow). Required: vote or new_answer'

describe.each(DIALECTS)('Enforcement Event Tracking, a model behind $provider', (dialect) => {
  const seat = (more = {}) => model('m', dialect, models, { api_key_env: 'X', ...more })
  const goodAnswer = (content = 'forty-two') => says(dialect, { calls: [streamed('new_answer', { content })] })
  const goodVote = () => says(dialect, { calls: [streamed('vote', { agent_id: 'agent1', reason: 'x' })] })

  it('[REQ-SEEDED-1] Unknown tool triggers enforcement tracking, buffer preservation and the message with its count', async () => {
    const text = 'I will run it. '.repeat(50)
    const bad = says(dialect, { text: [text], calls: [streamed('execute_command', { command: 'ls' })] })
    models.will(bad, goodAnswer(), goodVote())
    const { id } = await begin(server, { agents: [seat({ takes_tool_errors: false })] })
    const status = await statusAtEnd(id)
    expect(status.agents.m?.reliability?.enforcement_attempts).toEqual([
      {
        round: 1,
        attempt: 1,
        max_attempts: 3,
        reason: 'unknown_tool',
        tool_calls: ['execute_command'],
        error_message: null,
        buffer_preview: text.slice(0, 500),
        buffer_chars: 750,
        handled: 'restart',
        timestamp: expect.closeTo(Date.now() / 1000, -2),
      },
    ])
    expect(status.agents.m?.reliability).toMatchObject({
      unknown_tools: ['execute_command'],
      total_buffer_chars_lost: 750,
      outcome: 'ok',
    })
    expect(toldIn(dialect, models, 1).at(-1)).toContain(NOT_WORKFLOW)
    expect(toldIn(dialect, models, 1).at(-1)).toContain(text)
  })

  it('[REQ-SEEDED-2] Invalid vote ID triggers enforcement tracking, and its message includes the valid ids', async () => {
    const hasTwo = () => statusWhen(server, id, ({ agents }) => agents.a?.answer_count === 1)
    const again = says(dialect, { calls: [streamed('vote', { agent_id: 'agent5', reason: 'x' })] })
    let id = ''
    // The model is agent2: it answers once agent1 has, and is shown both before it votes.
    models.will([{ until: () => started }, { until: hasTwo }, ...goodAnswer('forty-three')], again, goodVote())
    let isStarted: () => void = () => undefined
    const started = new Promise<void>((resolve) => {
      isStarted = resolve
    })
    const script = [answer('forty-two'), ...many(4, vote('agent1'))]
    ;({ id } = await begin(server, { agents: [{ id: 'a', kind: 'scripted', script }, seat()] }))
    isStarted()
    const status = await statusAtEnd(id)
    const error = "Invalid agent_id 'agent5'. Valid agents: agent1, agent2"
    expect(status.agents.m?.reliability?.enforcement_attempts).toMatchObject([
      { reason: 'invalid_vote_id', error_message: error, tool_calls: ['vote'] },
    ])
    expect(toldIn(dialect, models, 2).at(-1)).toBe(toolError(dialect, `Retry (1/3): ${error}`))
    expect(status.results).toMatchObject({ winner: 'a', votes: { a: 2 } })
  })

  it('[REQ-SEEDED-3] Multiple enforcement attempts are tracked per round, and status.json has the whole structure after the run', async () => {
    models.will(
      says(dialect, { calls: [streamed('execute_command', {})] }),
      says(dialect, { text: ['Hm.'] }),
      goodAnswer(),
      says(dialect, { calls: [streamed('vote', { agent_id: 'agent7', reason: 'x' })] }),
      goodVote(),
    )
    const { id } = await begin(server, { agents: [seat()] })
    const status = await statusAtEnd(id)
    const { reliability } = status.agents.m ?? {}
    expect(Object.keys(reliability ?? {})).toEqual([
      ...['enforcement_attempts', 'by_round', 'unknown_tools', 'workflow_errors', 'total_enforcement_retries'],
      ...['total_buffer_chars_lost', 'outcome'],
    ])
    expect(reliability?.enforcement_attempts.map(({ round, attempt }) => [round, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
    ])
    expect(reliability).toMatchObject({
      by_round: {
        1: { count: 2, reasons: ['unknown_tool', 'no_tool_calls'] },
        2: { count: 1, reasons: ['invalid_vote_id'] },
      },
      unknown_tools: ['execute_command'],
      workflow_errors: ['invalid_vote_id'],
      total_enforcement_retries: 3,
      total_buffer_chars_lost: 3,
      outcome: 'ok',
    })
    expect((await server.call('GET', `/status?run=${id}`, server.operator)).body).toEqual(status)
  })
})

const KEYS = ['finish_reason', 'finish_reason_details', 'is_complete', 'meta', 'coordination', 'agents', 'results']

it('[REQ-SEEDED-4] a thousand readings of status.json in a run that changes all the time find it whole', async () => {
  const bad = { text: 'x'.repeat(5000), tool_calls: [{ name: 'execute_command' }] }
  const script = (content: string) => [
    ...many(15, { ...bad, delay_ms: 3 }),
    answer(content),
    ...many(15, { ...bad, delay_ms: 3 }),
    { delay_ms: 1000, ...vote('agent1') },
    ...many(8, vote('agent1')),
  ]
  const { id } = await begin(server, {
    agents: ['a', 'b', 'c', 'd'].map((one) => ({ id: one, kind: 'scripted', script: script(`the way of ${one}`) })),
    options: { max_attempts: 20 },
  })
  await statusWhen(server, id, () => {
    try {
      return written(id) !== null
    } catch {
      return false
    }
  })
  const seen = new Set<number>()
  for (let reads = 0; reads < 1000; reads += 1) {
    const status = written(id)
    expect(Object.keys(status)).toEqual(KEYS)
    seen.add(
      Object.values(status.agents).reduce((sum, one) => sum + (one.reliability?.total_enforcement_retries ?? 0), 0),
    )
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  expect(seen.size).toBeGreaterThan(2)
  const status = await statusAtEnd(id)
  expect(Object.values(status.agents).map(({ reliability }) => reliability?.total_enforcement_retries)).toEqual(
    many(4, 30),
  )
  expect(status.results).toMatchObject({ winner: 'a', votes: { a: 4 } })
})
