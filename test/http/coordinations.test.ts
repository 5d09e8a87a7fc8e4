import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

let server: Running

beforeAll(async () => {
  server = await start()
})
afterAll(() => server.stop())

const answer = (content: string) => ({ tool_calls: [{ name: 'new_answer', arguments: { content } }] })
const vote = (agentId: string) => ({
  tool_calls: [{ name: 'vote', arguments: { agent_id: agentId, reason: 'the best' } }],
})

async function begin(body: Record<string, unknown>) {
  const got = await server.call('POST', '/coordinations', server.operator, { question: 'Which way?', ...body })
  expect(got.status, JSON.stringify(got.body)).toBe(201)
  return got.body as { id: string; agents: { id: string; anonymous_id: string; token?: string }[] }
}

async function ended(id: string): Promise<Record<string, never>> {
  for (let tries = 0; tries < 250; tries += 1) {
    const { body } = await server.call('GET', `/coordinations/${id}/status`, server.operator)
    if (body.is_complete === true) return body as Record<string, never>
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('the run did not end')
}

describe('scripted agents', () => {
  it('[REQ-COORD-1] answer, vote and have a winner', async () => {
    const script = (content: string) => [answer(content), vote('agent1'), vote('agent1'), vote('agent1')]
    const { id, agents } = await begin({
      agents: [
        { id: 'b', kind: 'scripted', script: script('go left') },
        { id: 'a', kind: 'scripted', script: script('go right, and then up') },
      ],
    })
    expect(agents).toEqual([
      { id: 'b', anonymous_id: 'agent2' },
      { id: 'a', anonymous_id: 'agent1' },
    ])
    const status = await ended(id)
    expect(status).toMatchObject({ finish_reason: 'completed', results: { winner: 'a', votes: { a: 2 } } })
  })
})

describe('a quorum', () => {
  const script = (content: string, own: string) => [answer(content), vote(own), vote(own), vote(own), vote(own)]
  const agents = [
    { id: 'a', kind: 'scripted', script: script('go left', 'agent1') },
    { id: 'b', kind: 'scripted', script: script('go right, and then up', 'agent2') },
  ]

  it('[REQ-ROUND-20] that the agents cannot reach is refused, and the field is named', async () => {
    for (const options of [{ quorum: 3 }, { quorum: 2, allow_self_vote: false }]) {
      const body = { question: 'Which way?', agents, options }
      const refused = await server.call('POST', '/coordinations', server.operator, body)
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(refused.body.detail).toContain('quorum')
    }
  })

  it('[REQ-ROUND-20] that no answer reaches leaves the run without a winner', async () => {
    const { id } = await begin({ agents, options: { quorum: 2 } })
    expect(await ended(id)).toMatchObject({
      finish_reason: 'completed',
      finish_reason_details: 'Quorum not reached: a has 1 vote, and 2 are needed',
      results: { winner: null, votes: { a: 1, b: 1 } },
    })
    const { body } = await server.call('GET', `/coordinations/${id}`, server.operator)
    expect(body).toMatchObject({
      options: { quorum: 2 },
      final_presentation: null,
      status: { results: { winner: null } },
    })
  })
})
