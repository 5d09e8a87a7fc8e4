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

describe('whoever follows a run', () => {
  it('[REQ-BREAK-13] sees nothing more once its right to is revoked', async () => {
    const added = await server.call('POST', '/operators', server.operator, { name: 'guest' })
    const { id, agents } = await begin(server, { agents: [{ id: 'a', kind: 'remote' }] })
    const stream = await fetch(`${server.url}/api/v1/coordinations/${id}/stream`, {
      headers: { authorization: `Bearer ${String(added.body.operator_token)}` },
    })
    await server.call('POST', '/operators/guest/revoke', server.operator, { reason: 'gone' })
    const heard = await Promise.race([stream.text(), new Promise((resolve) => setTimeout(resolve, 5000, 'open'))])
    expect(heard).toContain('event: run_started')
    await server.call('POST', `/coordinations/${id}/respond`, agents[0]?.token ?? '', answer('for others'))
    expect(heard).not.toContain('for others')
    await server.call('POST', `/coordinations/${id}/cancel`, server.operator, { reason: 'enough' })
  })
})
