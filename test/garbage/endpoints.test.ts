import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApi } from '../../src/http/openapi.js'
import { DESCRIBED } from '../../src/http/routes/all.js'
import { type Running, start } from '../http/harness.js'
import { ENDPOINTS } from './endpoints.js'
import { Stage } from './stage.js'
import { countHandlers, type Outcome, operationsOf, PER_ENDPOINT, SEED, throwGarbage } from './throw-garbage.js'
import { SlowClients } from './wire.js'

countHandlers()
const operations = operationsOf(openApi(DESCRIBED) as Record<string, unknown>)
const outcomes = new Map<string, Outcome>()
// One server takes several endpoints in a row: to set one up takes longer than most of them.
const ENDPOINTS_PER_STAGE_MAX = 8
// A change of a call that takes no fields is mostly a change around it; all others must get into the handler often enough.
const REACHED_MIN = 0.15

let shared: Stage | null = null
let sharedBy = 0

/** Works on the stage that endpoints share, or on one of its own. After a failure it is shared no longer. */
async function onStage(isOwn: boolean, work: (stage: Stage) => Promise<void>): Promise<void> {
  if (isOwn) return onOwnStage(work)
  const stage = shared ?? (await Stage.open())
  sharedBy = shared === null ? 1 : sharedBy + 1
  shared = null
  let isKept = false
  try {
    await work(stage)
    isKept = sharedBy < ENDPOINTS_PER_STAGE_MAX
  } finally {
    if (isKept) shared = stage
    else await stage.run.stop()
  }
}

async function onOwnStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await Stage.open()
  try {
    await work(stage)
  } finally {
    await stage.run.stop()
  }
}

let besieged: Running
const slow = new SlowClients()
beforeAll(async () => {
  besieged = await start()
  slow.open(besieged.port, 50, `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${besieged.port}\r\nX-Slow: `)
  // With all of them connected, others are served.
  expect((await besieged.call('GET', '/health', null)).status).toBe(200)
})
afterAll(async () => {
  await shared?.run.stop()
  slow.end()
  await besieged.stop()
})

describe(`garbage at every endpoint (seed ${SEED})`, () => {
  afterAll(() => {
    if (process.env.PHASELOCK_GARBAGE_SHOW === undefined) return
    for (const [id, { sent, permitted, reached, statuses }] of outcomes)
      console.log(
        `${id}: ${sent} sent, ${reached} of ${permitted} permitted ones reached the handler, ${JSON.stringify(Object.fromEntries([...statuses].sort()))}`,
      )
  })

  it('[REQ-GARBAGE-1] the document that the server gives out has a right request for every operation here', () =>
    onStage(false, async (stage) => {
      const { body } = await stage.run.call('GET', '/api/v1/openapi.json', null)
      expect(operationsOf(body)).toEqual(operations)
      expect(operations.map((one) => one.id).sort()).toEqual(Object.keys(ENDPOINTS).sort())
      for (const one of operations) expect(one.mayCall.length, one.id).toBeGreaterThan(0)
    }))

  it.each(operations)('[REQ-GARBAGE-1] $method $path answers every malformed request as a problem', (operation) =>
    onStage(ENDPOINTS[operation.id]?.isAlone === true, async (stage) => {
      const outcome = await throwGarbage(stage, operation)
      outcomes.set(operation.id, outcome)
      expect(outcome.permitted).toBeGreaterThanOrEqual(PER_ENDPOINT)
      expect(outcome.reached / outcome.permitted, 'share that reached the handler').toBeGreaterThan(REACHED_MIN)
      expect((await stage.run.call('GET', '/health', null)).body).toMatchObject({ status: 'ok' })
      expect((await stage.run.call('GET', '/audit/verify', stage.run.operator)).body).toMatchObject({
        ok: true,
        problems: [],
      })
      expect(stage.run.faults).toEqual([])
    }),
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
