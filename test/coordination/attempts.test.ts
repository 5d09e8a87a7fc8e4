import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { ANTHROPIC, DIALECTS, ModelServer, OPENAI } from '../participants/model-server.js'
import {
  answer,
  begin,
  ended,
  eventsOf,
  fileAtEnd,
  model,
  says,
  statusWhen,
  streamed,
  toldIn,
  toolError,
  vote,
} from './council.js'

let server: Running
beforeAll(async () => {
  server = await start()
})
afterAll(() => server.stop())

let models: ModelServer
beforeEach(async () => {
  models = await ModelServer.start()
})
afterEach(() => models.stop())

const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one)
const STOPPED = 'Agent failed to use workflow tools after 3 attempts'

describe.each(DIALECTS)('attempts of a model behind $provider', (dialect) => {
  it('[REQ-ENFORCED-5] three bad calls in one response are one attempt, and each of them gets the error of the first', async () => {
    models.will(
      says(dialect, {
        calls: [
          streamed('vote', { agent_id: 'agent9', reason: 'x' }),
          streamed('execute_command', {}),
          streamed('vote', { agent_id: 'agent8', reason: 'x' }),
        ],
      }),
      says(dialect, { calls: [streamed('new_answer', { content: 'go up' })] }),
      says(dialect, { calls: [streamed('vote', { agent_id: 'agent1', reason: 'x' })] }),
    )
    const { id } = await begin(server, { agents: [model('m', dialect, models)] })
    const { agents } = await ended(server, id)
    expect(agents.m?.reliability).toMatchObject({
      enforcement_attempts: [
        { attempt: 1, reason: 'vote_no_answers', tool_calls: ['vote', 'execute_command', 'vote'], handled: 'inline' },
      ],
      unknown_tools: ['execute_command'],
      workflow_errors: ['vote_no_answers'],
      total_enforcement_retries: 1,
    })
    const error = toolError(dialect, 'Retry (1/3): Cannot vote when no answers exist. Required: new_answer')
    expect(toldIn(dialect, models, 1).slice(-3)).toEqual(many(3, error))
  })

  it('[REQ-ENFORCED-11] the tokens of every answer are counted, also of the vote that ends the run and of the presentation', async () => {
    models.will(
      says(dialect, { calls: [streamed('execute_command', {})] }),
      says(dialect, { calls: [streamed('new_answer', { content: 'go up' })] }),
      says(dialect, { calls: [streamed('vote', { agent_id: 'agent1', reason: 'x' })] }),
      says(dialect, { text: ['Finally: up.'] }),
    )
    const options = { final_presentation: true }
    const { id } = await begin(server, { agents: [model('m', dialect, models)], options })
    await ended(server, id)
    const { body } = await server.call('GET', `/coordinations/${id}`, server.operator)
    const cacheWrite = dialect.provider === 'anthropic' ? 20 : 0
    expect((body.agents as { tokens: unknown }[])[0]?.tokens).toEqual({
      ...{ input: 80, output: 28, cache_read: 40, cache_write: cacheWrite },
    })
    models.will(
      says(dialect, { calls: [streamed('new_answer', { content: 'go up' })] }),
      says(dialect, { calls: [streamed('vote', { agent_id: 'agent1', reason: 'x' })] }),
    )
    const { id: short } = await begin(server, { agents: [model('m', dialect, models)] })
    await ended(server, short)
    const whole = await server.call('GET', `/coordinations/${short}`, server.operator)
    expect((whole.body.agents as { tokens: unknown }[])[0]?.tokens).toMatchObject({ input: 40, output: 14 })
  })

  it('[REQ-ENFORCED-6] the attempt that exhausts them is recorded, the agent stops, and the others finish', async () => {
    models.will(
      says(dialect, { text: ['one'], calls: [streamed('execute_command', {})] }),
      says(dialect, { text: ['two'] }),
      says(dialect, { text: ['three'], calls: [streamed('run_shell', {})] }),
      says(dialect, { calls: [streamed('new_answer', { content: 'too late' })] }),
    )
    const other = { id: 'z', kind: 'scripted', script: [{ delay_ms: 300, ...answer('go down') }, vote('agent2')] }
    const { id } = await begin(server, { agents: [model('m', dialect, models), other] })
    const status = await ended(server, id)
    expect(status).toMatchObject({ finish_reason: 'completed', results: { winner: 'z', votes: { z: 1 } } })
    expect(status.agents.m).toMatchObject({
      status: 'stopped',
      answer_count: 0,
      error: { type: 'non_compliant', message: STOPPED },
      reliability: { outcome: 'non_compliant', total_enforcement_retries: 3, total_buffer_chars_lost: 6 },
    })
    const attempts = status.agents.m?.reliability?.enforcement_attempts ?? []
    expect(attempts.map((one) => [one.attempt, one.reason, one.handled])).toEqual([
      [1, 'unknown_tool', 'inline'],
      [2, 'no_tool_calls', 'restart'],
      [3, 'unknown_tool', 'inline'],
    ])
    expect(status.agents.m?.reliability?.by_round).toEqual({
      1: { count: 3, reasons: ['unknown_tool', 'no_tool_calls'] },
    })
    // Nothing is asked of it any more.
    expect(models.asked).toHaveLength(3)
    const rejected = (await eventsOf(server, id)).filter(({ type }) => type === 'response_rejected')
    expect(rejected.map(({ data }) => String(data.message).split(':')[0])).toEqual([
      'Retry (1/3)',
      'Retry (2/3)',
      'Retry (3/3)',
    ])
  })

  it('[REQ-ENFORCED-7] a preview of 500 code points never halves a character, and the count is the whole', async () => {
    models.will(
      says(dialect, { text: ['a', '🙂'.repeat(300), '🙂'.repeat(300)] }),
      says(dialect, { calls: [streamed('new_answer', { content: 'go up' })] }),
      says(dialect, { calls: [streamed('vote', { agent_id: 'agent1', reason: '🙂'.repeat(600) })] }),
    )
    const { id } = await begin(server, { agents: [model('m', dialect, models)] })
    const status = await ended(server, id)
    const [attempt] = status.agents.m?.reliability?.enforcement_attempts ?? []
    expect(attempt).toMatchObject({ buffer_preview: `a${'🙂'.repeat(499)}`, buffer_chars: 601 })
    const written = JSON.parse(await fileAtEnd(server.stateDir, id)) as typeof status
    expect(written.agents.m?.reliability).toEqual(status.agents.m?.reliability)
    expect(written.agents.m?.vote_cast).toMatchObject({ reason_preview: '🙂'.repeat(500) })
  })

  it('[REQ-ENFORCED-7] a stream of a million characters leaves a small status, and its beginning goes into the next prompt', async () => {
    const piece = 'x'.repeat(50_000)
    models.will(
      dialect.answer({ text: many(20, piece) }),
      says(dialect, { calls: [streamed('new_answer', { content: 'go up' })] }),
      says(dialect, { calls: [streamed('vote', { agent_id: 'agent1', reason: 'x' })] }),
    )
    const { id } = await begin(server, { agents: [model('m', dialect, models)] })
    const status = await ended(server, id)
    expect(status.agents.m?.reliability).toMatchObject({
      enforcement_attempts: [{ buffer_preview: 'x'.repeat(500), buffer_chars: 1_000_000 }],
      total_buffer_chars_lost: 1_000_000,
    })
    const last = toldIn(dialect, models, 1).at(-1) ?? ''
    expect(last).toContain('cut: the first 120000 of 1000000 characters')
    expect(last.match(/x{1000,}/)?.[0]).toHaveLength(120_000)
    expect((await fileAtEnd(server.stateDir, id)).length).toBeLessThan(5_000)
  })
})

describe('what counts', () => {
  it('[REQ-ENFORCED-8] the outcome is ok, non_compliant or dropped, and null without an event', async () => {
    const bad = { text: 'hm', tool_calls: [{ name: 'execute_command', arguments: {} }] }
    const { id } = await begin(server, {
      agents: [
        {
          id: 'clean',
          kind: 'scripted',
          script: [{ delay_ms: 200, ...answer('one way') }, ...many(3, vote('agent1'))],
        },
        { id: 'crashed', kind: 'scripted', script: [bad] },
        {
          id: 'ok',
          kind: 'scripted',
          script: [bad, { delay_ms: 200, ...answer('another') }, ...many(3, vote('agent1'))],
        },
        { id: 'stubborn', kind: 'scripted', script: many(3, bad) },
      ],
    })
    const { agents, results } = await ended(server, id)
    const outcomes = Object.entries(agents).map(([name, one]) => [name, one.status, one.reliability?.outcome ?? null])
    expect(outcomes).toEqual([
      ['clean', 'completed', null],
      ['crashed', 'error', 'dropped'],
      ['ok', 'completed', 'ok'],
      ['stubborn', 'stopped', 'non_compliant'],
    ])
    expect(results).toMatchObject({ winner: 'clean', votes: { clean: 2 } })
  })

  it('[REQ-ENFORCED-8] an agent that runs out of time after an event is dropped', async () => {
    const { id } = await begin(server, {
      agents: [
        {
          id: 'late',
          kind: 'scripted',
          script: [{ tool_calls: [{ name: 'nope' }] }, { delay_ms: 60_000, ...answer('x') }],
        },
        { id: 'swift', kind: 'scripted', script: [answer('one way'), vote('agent2')] },
      ],
      options: { round_timeout_seconds: 1 },
    })
    const { agents, finish_reason } = await ended(server, id)
    expect(finish_reason).toBe('completed')
    expect(agents.late).toMatchObject({ status: 'timeout', reliability: { outcome: 'dropped' } })
  })

  /** A run of remote agents; each is shown its view before it responds. */
  async function remotes(ids: readonly string[]) {
    const { id, agents } = await begin(server, { agents: ids.map((one) => ({ id: one, kind: 'remote' })) })
    const say = async (index: number, body: unknown) => {
      const { token = '' } = agents[index] ?? {}
      await server.call('GET', `/coordinations/${id}`, token)
      return (await server.call('POST', `/coordinations/${id}/respond`, token, body)).body
    }
    return { id, say }
  }

  it.each([
    ['one with blanks around it', () => 'go up', () => '  go up\n'],
    ['one that names the work tree', () => `see ${server.workspace}/x.md`, () => `see ${server.workspace}/x.md `],
    [
      'one with a secret',
      () => 'use sk-abcdefghij0123456789abcdef for it',
      () => 'use sk-abcdefghij0123456789abcdef for it',
    ],
  ])('[REQ-ENFORCED-9] a duplicate is not recorded as an answer: %s', async (_name, first, second) => {
    const { id, say } = await remotes(['a', 'b'])
    expect(await say(0, answer(first()))).toMatchObject({ accepted: true, label: 'agent1.1' })
    const message = 'Answer identical to agent1.1. Required: a different answer, or vote'
    for (const [index, attempt] of [
      [1, 1],
      [0, 1],
    ] as const)
      expect(await say(index, answer(second()))).toMatchObject({
        accepted: false,
        reason: 'answer_duplicate',
        message: `Retry (${attempt}/3): ${message}`,
      })
    for (const index of [0, 1]) expect(await say(index, vote('agent1'))).toMatchObject({ accepted: true })
    const status = await ended(server, id)
    expect(status.agents.b).toMatchObject({ answer_count: 0, latest_answer_label: null })
    expect(status.agents.b?.reliability?.enforcement_attempts).toMatchObject([
      { reason: 'answer_duplicate', error_message: message },
    ])
    const { body } = await server.call('GET', `/coordinations/${id}`, server.operator)
    expect((body.answers as { label: string }[]).map(({ label }) => label)).toEqual(['agent1.1'])
    expect(JSON.stringify([body, await eventsOf(server, id)])).not.toContain('sk-abcdefghij')
  })

  it('[REQ-ENFORCED-10] votes that an answer voided are not counted', async () => {
    const { id, say } = await remotes(['a', 'b', 'c'])
    expect(await say(0, answer('one way'))).toMatchObject({ accepted: true, label: 'agent1.1' })
    expect(await say(0, vote('agent1'))).toMatchObject({ accepted: true, action: 'vote', label: 'agent1.1' })
    expect(await say(1, vote('agent1'))).toMatchObject({ accepted: true, action: 'vote' })
    const voted = await statusWhen(server, id, ({ results }) => results.votes.a === 2)
    expect(voted.agents.b?.vote_cast).toMatchObject({ voted_for_agent: 'a', voted_for_label: 'agent1.1' })
    expect(await say(2, answer('another way'))).toMatchObject({ accepted: true, label: 'agent3.1' })
    const voided = await statusWhen(server, id, (one) => one.agents.c?.answer_count === 1)
    expect(voided.results.votes).toEqual({})
    expect(voided.agents.b?.vote_cast).toBeNull()
    for (const index of [0, 1, 2]) expect(await say(index, vote('agent3'))).toMatchObject({ accepted: true })
    expect((await ended(server, id)).results).toMatchObject({ winner: 'c', votes: { c: 3 } })
  })

  it('[REQ-ENFORCED-10] of several votes in one response the last counts, and a good vote beside a bad call does not', async () => {
    const both = { tool_calls: [...vote('agent1').tool_calls, ...vote('agent2').tool_calls] }
    const spoiled = { tool_calls: [...vote('agent1').tool_calls, { name: 'execute_command', arguments: {} }] }
    const { id } = await begin(server, {
      agents: [
        { id: 'a', kind: 'scripted', script: [answer('one way'), ...many(4, vote('agent2'))] },
        { id: 'b', kind: 'scripted', script: [answer('another way'), spoiled, ...many(4, both)] },
      ],
    })
    const status = await ended(server, id)
    expect(status.results).toMatchObject({ winner: 'b', votes: { b: 2 } })
    expect(status.agents.b?.reliability?.enforcement_attempts).toMatchObject([
      { reason: 'unknown_tool', tool_calls: ['vote', 'execute_command'] },
    ])
  })
})

it('[REQ-ENFORCED-5] models of both kinds take part in one run', async () => {
  const others = await ModelServer.start()
  try {
    for (const [dialect, at, content] of [[OPENAI, models, 'left'] as const, [ANTHROPIC, others, 'right'] as const]) {
      at.will(says(dialect, { reasoning: 'Hm.', calls: [streamed('new_answer', { content })] }))
      for (let i = 0; i < 5; i += 1)
        at.will(says(dialect, { calls: [streamed('vote', { agent_id: 'agent2', reason: 'x' })] }))
    }
    const { id } = await begin(server, { agents: [model('o', OPENAI, models), model('a', ANTHROPIC, others)] })
    expect((await ended(server, id)).results).toMatchObject({ winner: 'o', votes: { o: 2 } })
  } finally {
    await others.stop()
  }
})
