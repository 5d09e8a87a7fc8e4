import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sample } from '../depth.js'
import { type Running, start } from '../http/harness.js'
import { ENDPOINTS } from './endpoints.js'
import { halfOf, OPERATIONS, Siege } from './siege.js'
import { operationsOf, SEED } from './throw-garbage.js'
import { SlowClients } from './wire.js'

const siege = new Siege()
let besieged: Running
const slow = new SlowClients()
beforeAll(async () => {
  besieged = await start()
  slow.open(besieged.port, 50, `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${besieged.port}\r\nX-Slow: `)
  // With all of them connected, others are served.
  expect((await besieged.call('GET', '/health', null)).status).toBe(200)
})
afterAll(async () => {
  await siege.end()
  slow.end()
  await besieged.stop()
})

describe(`garbage at every endpoint, the first half (seed ${SEED})`, () => {
  it('[REQ-GARBAGE-1] the document that the server gives out has a right request for every operation here', () =>
    siege.onStage(false, async (stage) => {
      const { body } = await stage.run.call('GET', '/api/v1/openapi.json', null)
      expect(operationsOf(body)).toEqual(OPERATIONS)
      expect(OPERATIONS.map((one) => one.id).sort()).toEqual(Object.keys(ENDPOINTS).sort())
      // Whoever logs in has no token yet.
      const open = OPERATIONS.filter(({ mayCall }) => mayCall.length === 0)
      expect(open.map(({ id }) => id)).toEqual(['login'])
    }))

  it.each(sample(halfOf(0), 7))(
    '[REQ-GARBAGE-1] $method $path answers every malformed request as a problem',
    (operation) => siege.besiege(operation),
  )
})

// Being cut off takes its time: they wait while everything else of this file runs.
describe('slow clients', () => {
  it('[REQ-GARBAGE-4] fifty clients that send one byte a second are cut off, and keep nobody waiting meanwhile', async () => {
    expect((await besieged.call('GET', '/audit/verify', besieged.operator)).body).toMatchObject({ ok: true })
    await slow.allClosed()
    const answers = await Promise.all(Array.from({ length: 20 }, () => besieged.call('GET', '/health', null)))
    expect(answers.every((one) => one.status === 200)).toBe(true)
    expect(besieged.faults).toEqual([])
  })
})
