import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answer, begin } from '../coordination/council.js'
import { type Running, start } from '../http/harness.js'

let server: Running
beforeAll(async () => {
  server = await start()
})
afterAll(async () => {
  await server.stop()
  expect(server.faults).toEqual([])
})

describe('a client that follows a run', () => {
  it('[REQ-BREAK-13] sees nothing more once its right to is revoked', async () => {
    const added = await server.call('POST', '/operators', server.operator, { name: 'guest' })
    const { id, agents } = await begin(server, { agents: [{ id: 'a', kind: 'remote' }] })
    const stream = await fetch(`${server.url}/api/v1/coordinations/${id}/stream`, {
      headers: { authorization: `Bearer ${String(added.body.operator_token)}` },
    })
    let heard = ''
    let isOver = false
    const hearing = (async () => {
      for await (const piece of stream.body ?? []) heard += Buffer.from(piece).toString()
      isOver = true
    })()
    await expect.poll(() => heard).toContain('event: run_started')
    await server.call('POST', '/operators/guest/revoke', server.operator, { reason: 'gone' })
    await expect.poll(() => isOver).toBe(true)
    await hearing
    const token = agents[0]?.token ?? ''
    const said = await server.call('POST', `/coordinations/${id}/respond`, token, answer('for others'))
    expect(said.body).toMatchObject({ accepted: true })
    expect(heard).not.toContain('for others')
    await server.call('POST', `/coordinations/${id}/cancel`, server.operator, { reason: 'enough' })
  })
})
