import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { answer, begin, ended, model, says, statusOf, streamed, vote } from '../coordination/council.js'
import { type Running, start } from '../http/harness.js'
import { ModelServer, OPENAI } from '../participants/model-server.js'

let server: Running
let models: ModelServer
beforeAll(async () => {
  // What servers that need no key are given for one is often a word like any other.
  server = await start({ environment: { OLLAMA_KEY: 'ollama', WORD: 'answer_accepted' } })
  models = await ModelServer.start()
})
afterEach(() => expect(server.faults).toEqual([]))
afterAll(async () => {
  await server.stop()
  await models.stop()
})

describe('a key that is a word', () => {
  it('[REQ-BREAK-1] does not lose agents of the same name, or events', async () => {
    const before = await begin(server, { agents: [{ id: 'ollama-remote', kind: 'remote' }] })
    models.will(
      says(OPENAI, { calls: [streamed('new_answer', { content: 'I run on ollama.' })] }),
      says(OPENAI, { calls: [streamed('vote', { agent_id: 'agent1', reason: 'mine' })] }),
      says(OPENAI, { calls: [streamed('new_answer', { content: 'Another.' })] }),
      says(OPENAI, { calls: [streamed('vote', { agent_id: 'agent1', reason: 'mine' })] }),
    )
    for (const name of ['OLLAMA_KEY', 'WORD']) {
      const run = await begin(server, { agents: [model('ollama-a', OPENAI, models, { api_key_env: name })] })
      const status = await ended(server, run.id)
      expect(status).toMatchObject({ finish_reason: 'completed', results: { winner: 'ollama-a' } })
      if (name === 'OLLAMA_KEY') expect(status.results.final_answer_preview).toBe('I run on [redacted].')
    }
    const token = before.agents[0]?.token ?? ''
    const say = (body: unknown) => server.call('POST', `/coordinations/${before.id}/respond`, token, body)
    expect((await say(answer('From elsewhere.'))).body).toMatchObject({ accepted: true, label: 'agent1.1' })
    expect((await say(vote('agent1'))).body).toMatchObject({ accepted: true })
    expect(await statusOf(server, before.id)).toMatchObject({ results: { votes: { 'ollama-remote': 1 } } })
  })
})
