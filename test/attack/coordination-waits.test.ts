import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { answer, begin, vote } from '../coordination/council.js'
import { makePlace, serve } from '../e2e/process.js'
import { type Running, start } from '../http/harness.js'

let server: Running
beforeAll(async () => {
  server = await start()
})
afterEach(() => {
  expect(server.faults).toEqual([])
  server.now = null
})
afterAll(() => server.stop())

const REMOTES = ['a', 'b'].map((id) => ({ id, kind: 'remote' }))

async function seated(options: Record<string, unknown> = {}) {
  const run = await begin(server, { agents: REMOTES, options })
  const [a = '', b = ''] = run.agents.map(({ token }) => token ?? '')
  const path = `/coordinations/${run.id}`
  const say = (token: string, body: unknown) => server.call('POST', `${path}/respond`, token, body)
  const see = (token: string, query = '') => server.call('GET', `${path}${query}`, token)
  return { id: run.id, a, b, say, see }
}

describe('an agent that waits', () => {
  it('[REQ-BREAK-8] has one wait at a time, and takes no place from clients that follow the run', async () => {
    const { id, a, b, say, see } = await seated()
    await say(a, answer('one'))
    await say(a, vote('agent1'))
    const from = Date.now()
    let over = 0
    const waits = Array.from({ length: 250 }, async () => {
      const got = await see(a, '?wait=50')
      over += 1
      return got
    })
    await expect.poll(() => over).toBe(249)
    const stream = await fetch(`${server.url}/api/v1/coordinations/${id}/stream`, {
      headers: { authorization: `Bearer ${server.operator}` },
    })
    const followed = stream.text()
    await see(b)
    await say(b, vote('agent1'))
    expect(await followed).toContain('event: run_ended')
    const all = await Promise.all(waits)
    expect(all.filter(({ body }) => body.is_complete === true)).toHaveLength(1)
    expect(Date.now() - from).toBeLessThan(40_000)
  })
})

describe('an agent that waits while the server stops', () => {
  it('[REQ-BREAK-14] is answered, and delays nobody', async () => {
    const place = await makePlace()
    const stopping = await serve(place, 'tdd')
    try {
      const { id, agents } = await begin(stopping, { agents: REMOTES })
      const token = agents[0]?.token ?? ''
      for (const body of [answer('one'), vote('agent1')])
        await stopping.call('POST', `/coordinations/${id}/respond`, token, body)
      const waiting = stopping.call('GET', `/coordinations/${id}?wait=50`, token)
      await new Promise((resolve) => setTimeout(resolve, 500))
      const from = Date.now()
      const stopped = stopping.stop()
      expect((await waiting).body).toMatchObject({ must: 'wait', is_complete: false })
      expect(Date.now() - from).toBeLessThan(8000)
      expect(await stopped).toBe(0)
    } finally {
      await stopping.stop()
      place.remove()
    }
  })
})

describe('an agent that looks when the time is over', () => {
  it('[REQ-BREAK-9] learns that the run has ended, not what it should have done', async () => {
    const { a, see } = await seated({ timeout_seconds: 60 })
    expect((await see(a)).body).toMatchObject({ must: 'new_answer', is_complete: false })
    server.now = Date.now() + 61_000
    expect((await see(a)).body).toMatchObject({ must: 'none', is_complete: true, finish_reason: 'timeout' })
  })
})
