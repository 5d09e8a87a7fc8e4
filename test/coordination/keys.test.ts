import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { DIALECTS, ModelServer } from '../participants/model-server.js'
import { begin, ended, eventsOf, fileAtEnd, model, says, streamed } from './council.js'

const KEY = 'councilkey4models0only'
const SECRET = 'sk-abcdefghij0123456789abcdef'
let server: Running
beforeAll(async () => {
  // A name like no secret: only the council says that it is one.
  server = await start({ environment: { X: KEY } })
})
afterAll(() => server.stop())

let models: ModelServer
beforeEach(async () => {
  models = await ModelServer.start()
})
afterEach(() => models.stop())

/** Everything that the stream of a run says until it ends. */
async function follow(id: string): Promise<string> {
  const response = await fetch(`${server.url}/api/v1/coordinations/${id}/stream`, {
    headers: { authorization: `Bearer ${server.operator}` },
  })
  return response.text()
}

describe.each(DIALECTS)('a model behind $provider', (dialect) => {
  it('[REQ-REMOTE-13] a secret that is streamed in pieces is in no part of the stream', async () => {
    const pieces =
      `Look, there is a key: ${SECRET}, it says.\nIt is there. And "it's" all: "a b, c", so.`.match(/[\s\S]{1,5}/g) ??
      []
    let isFollowed: () => void = () => undefined
    const followed = new Promise<void>((resolve) => {
      isFollowed = resolve
    })
    models.will(
      [{ until: () => followed }, ...says(dialect, { reasoning: `Hm, ${SECRET}.`, text: pieces })],
      says(dialect, { text: ['So. '], calls: [streamed('new_answer', { content: `with ${SECRET}` })] }),
      says(dialect, { calls: [streamed('vote', { agent_id: 'agent1', reason: SECRET })] }),
    )
    const { id } = await begin(server, { agents: [model('m', dialect, models)] })
    const text = follow(id)
    await new Promise((resolve) => setTimeout(resolve, 100))
    isFollowed()
    await ended(server, id)
    const parts = [...(await text).matchAll(/^event: part\ndata: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data ?? '') as { type: string; text?: string; name?: string },
    )
    const said = parts.filter(({ type }) => type === 'text').map((part) => part.text)
    expect(said.join('')).toBe(
      `Look, there is a key: [redacted], it says.\nIt is there. And "it's" all: "a b, c", so.So. `,
    )
    // It comes as it is streamed, not at the end.
    expect(said.length).toBeGreaterThan(3)
    const thought = parts.filter(({ type }) => type === 'reasoning').map((part) => part.text)
    expect(thought.join('')).toBe('Hm, [redacted].')
    expect(parts.filter(({ type }) => type === 'tool_call').map(({ name }) => name)).toEqual(['new_answer', 'vote'])
    expect(JSON.stringify([await text, await eventsOf(server, id)])).not.toContain('sk-abc')
  })

  it('[REQ-REMOTE-13] a server that repeats its key does not get it into answers, status, ledger or stream', async () => {
    models.will(
      { status: 429, headers: { 'retry-after': '0' }, acts: [`{"error": {"message": "bad key ${KEY}"}}`] },
      says(dialect, { text: [`I am ${KEY.slice(0, 9)}`, `${KEY.slice(9)}.`] }),
      says(dialect, { calls: [streamed('new_answer', { content: `my key is ${KEY}` })] }),
      { status: 401, acts: [`{"error": {"message": "Incorrect API key provided: ${KEY}"}}`] },
    )
    const { id } = await begin(server, { agents: [model('m', dialect, models, { api_key_env: 'X' })] })
    const text = follow(id)
    const status = await ended(server, id)
    expect(status.agents.m).toMatchObject({ status: 'error', answer_count: 1 })
    const { authorization, 'x-api-key': key } = models.asked[0]?.headers ?? {}
    expect(dialect.provider === 'anthropic' ? key : authorization).toContain(KEY)
    const whole = await server.call('GET', `/coordinations/${id}`, server.operator)
    expect(JSON.stringify(whole.body)).toContain('my key is [redacted]')
    const file = await fileAtEnd(server.stateDir, id)
    const exported = await fetch(`${server.url}/api/v1/audit/export`, {
      headers: { authorization: `Bearer ${server.operator}` },
    })
    for (const one of [JSON.stringify(status), JSON.stringify(whole.body), file, await text, await exported.text()])
      expect(one).not.toContain(KEY)
    expect(server.faults).toEqual([])
  })
})
