import { request } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { DIALECTS, ModelServer, OPENAI } from '../participants/model-server.js'
import { answer, begin, ended, eventsOf, model, says, statusOf, statusWhen, streamed, vote } from './council.js'

const environment: NodeJS.ProcessEnv = { X: 'councilkey4models0only' }
let server: Running
beforeAll(async () => {
  server = await start({ environment })
})
afterAll(() => server.stop())

let models: ModelServer
beforeEach(async () => {
  models = await ModelServer.start()
})
afterEach(() => models.stop())

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
async function asked(count: number): Promise<void> {
  for (let tries = 0; models.asked.length < count; tries += 1) {
    if (tries > 1000) throw new Error(`the model was asked ${models.asked.length} times, not ${count}`)
    await rest(10)
  }
}

describe.each(DIALECTS)('what operators do while a model behind $provider streams', (dialect) => {
  it('[REQ-OPERATED-1] a cancelled run closes the connection to its model, and nothing more is recorded', async () => {
    models.will([...dialect.answer({ text: ['Half a '], cut: true }), 'hang'])
    const { id } = await begin(server, { agents: [model('m', dialect, models), { id: 'r', kind: 'remote' }] })
    await asked(1)
    const got = await server.call('POST', `/coordinations/${id}/cancel`, server.operator, { reason: 'enough' })
    expect(got.body).toEqual({ id, finish_reason: 'cancelled', is_complete: true })
    await models.asked[0]?.closed
    const again = await server.call('POST', `/coordinations/${id}/cancel`, server.operator, { reason: 'enough' })
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict', detail: 'The council is over.' } })
    await rest(50)
    expect((await eventsOf(server, id)).at(-1)?.type).toBe('run_ended')
    expect(await statusOf(server, id)).toMatchObject({
      finish_reason: 'cancelled',
      finish_reason_details: 'enough',
      results: { winner: null },
    })
  })

  it('[REQ-OPERATED-2] paused agents are not asked, and go on when they may', async () => {
    models.will(
      says(dialect, { calls: [streamed('new_answer', { content: 'go up' })] }),
      says(dialect, { calls: [streamed('vote', { agent_id: 'agent1', reason: 'x' })] }),
    )
    await server.call('POST', '/pause', server.operator, { reason: 'lunch' })
    const { id } = await begin(server, { agents: [model('m', dialect, models)] })
    await rest(100)
    expect(models.asked).toHaveLength(0)
    await server.call('POST', '/unpause', server.operator, { reason: 'on' })
    expect((await ended(server, id)).results).toMatchObject({ winner: 'm', votes: { m: 1 } })
  })

  it('[REQ-OPERATED-3] arguments that do not parse are reported in the same conversation', async () => {
    models.will(
      says(dialect, { calls: [{ id: 'call_x', name: 'new_answer', pieces: ['{"content": "go', ' up'] }] }),
      says(dialect, { calls: [streamed('new_answer', { content: 'go up' })] }),
      says(dialect, { calls: [streamed('vote', { agent_id: 'agent1', reason: 'x' })] }),
    )
    const { id } = await begin(server, { agents: [model('m', dialect, models)] })
    const status = await ended(server, id)
    expect(status.agents.m?.reliability?.enforcement_attempts).toMatchObject([
      { reason: 'no_workflow_tool', tool_calls: ['new_answer'], handled: 'inline' },
    ])
    expect(JSON.stringify(models.asked[1]?.body)).toContain(
      'Retry (1/3): Called new_answer (without content). Required: vote or new_answer',
    )
  })
})

it('[REQ-OPERATED-1] the same start under one key is one run, with the same tokens', async () => {
  const body = { question: 'x', agents: [{ id: 'a', kind: 'remote' }] }
  const all = await Promise.all(
    Array.from({ length: 8 }, () =>
      server.call('POST', '/coordinations', server.operator, body, { 'idempotency-key': 'once' }),
    ),
  )
  expect(new Set(all.map(({ status, body: got }) => `${status} ${got.id}`)).size).toBe(1)
  const [first] = all
  const [{ token = '' } = {}] = (first?.body.agents ?? []) as { token?: string }[]
  const path = `/coordinations/${first?.body.id}`
  expect((await server.call('GET', path, token)).status).toBe(200)
  const again = await server.call('POST', `${path}/agents/a/token`, server.operator, {})
  expect((await server.call('GET', path, String(again.body.token))).status).toBe(200)
  await server.call('POST', `${path}/cancel`, server.operator, { reason: 'enough' })
  expect(await server.call('POST', `${path}/agents/a/token`, server.operator, {})).toMatchObject({ status: 409 })
})

it('[REQ-OPERATED-4] a stream goes on after the last event that was seen, and a slow reader gets all of it', async () => {
  const { id, agents } = await begin(server, {
    agents: [{ id: 'a', kind: 'remote' }],
    options: { max_new_answers_per_agent: 100 },
  })
  const { token = '' } = agents[0] ?? {}
  const say = (body: unknown) => server.call('POST', `/coordinations/${id}/respond`, token, body)
  const slow = request(`${server.url}/api/v1/coordinations/${id}/stream`, {
    headers: { authorization: `Bearer ${server.operator}` },
  })
  const text = new Promise<string>((resolve, reject) => {
    slow.on('error', reject)
    slow.on('response', (response) => {
      let read = ''
      response.setEncoding('utf8')
      // More than the server holds for one reader has come by the time that this one begins to read.
      setTimeout(() => response.on('data', (chunk: string) => (read += chunk)), 600)
      response.on('end', () => resolve(read))
    })
  })
  slow.end()
  for (let number = 0; number < 45; number += 1)
    expect((await say(answer(`${number} ${'x'.repeat(99_000)}`))).body).toMatchObject({ accepted: true })
  await say(vote('agent1'))
  const events = await eventsOf(server, id)
  const types = [...(await text).matchAll(/^event: (.*)$/gm)].map(([, type]) => type)
  expect(types).toEqual(events.map(({ type }) => type))
  expect(types.filter((type) => type === 'answer_accepted')).toHaveLength(45)
  const after = async (version: number): Promise<readonly (string | undefined)[]> => {
    const headers = { authorization: `Bearer ${server.operator}`, 'last-event-id': String(version) }
    const tail = await fetch(`${server.url}/api/v1/coordinations/${id}/stream`, { headers })
    return [...(await tail.text()).matchAll(/^event: (.*)$/gm)].map(([, type]) => type)
  }
  expect(await after(events.length - 2)).toEqual(types.slice(-2))
  // Nothing is left after the end: such a stream ends at once.
  expect(await after(events.length)).toEqual([])
})

it('[REQ-OPERATED-5] a model whose key is gone after a start is out, and the others finish', async () => {
  models.will(['hang'])
  const { id } = await begin(server, {
    agents: [
      model('m', OPENAI, models, { api_key_env: 'X' }),
      { id: 'z', kind: 'scripted', script: [{ delay_ms: 500, ...answer('go up') }, vote('agent2')] },
    ],
  })
  await asked(1)
  delete environment.X
  server = await server.restart()
  await statusWhen(server, id, ({ agents }) => agents.m?.status === 'error')
  const status = await ended(server, id)
  expect(status).toMatchObject({ finish_reason: 'completed', results: { winner: 'z' } })
  expect(status.agents.m?.error?.message).toContain('X')
  const refused = await server.call('POST', '/coordinations', server.operator, {
    question: 'x',
    agents: [model('m', OPENAI, models, { api_key_env: 'X' })],
  })
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
})
