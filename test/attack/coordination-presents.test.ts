import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answer, begin, ended, vote } from '../coordination/council.js'
import { type Running, start } from '../http/harness.js'

let server: Running
beforeAll(async () => {
  server = await start()
})
afterAll(async () => {
  await server.stop()
  expect(server.faults).toEqual([])
})

const OPTIONS = { final_presentation: true }
const presented = async (id: string) =>
  (await server.call('GET', `/coordinations/${id}`, server.operator)).body.final_presentation

describe('a winner that presents with the tool of an answer', () => {
  it('[REQ-BREAK-11] has presented its content, over REST', async () => {
    const { id, agents } = await begin(server, { agents: [{ id: 'a', kind: 'remote' }], options: OPTIONS })
    const say = (body: unknown) => server.call('POST', `/coordinations/${id}/respond`, agents[0]?.token ?? '', body)
    await say(answer('short'))
    expect((await say(vote('agent1'))).body).toMatchObject({ view: { must: 'present' } })
    const got = await say({ text: 'Here it is.', ...answer('in full') })
    expect(got.body).toMatchObject({ accepted: true, action: 'final_presentation', label: 'agent1.final' })
    expect(await presented(id)).toBe('in full')
  })

  it('[REQ-BREAK-11] has presented its content, where Phaselock asks', async () => {
    const script = [answer('short'), vote('agent1'), { text: 'I call it now.', ...answer('in full') }]
    const { id } = await begin(server, { agents: [{ id: 'a', kind: 'scripted', script }], options: OPTIONS })
    expect(await ended(server, id)).toMatchObject({ results: { final_answer_preview: 'in full' } })
  })
})
