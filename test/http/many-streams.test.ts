import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const STREAMS = 30

let run: Running
beforeAll(async () => {
  run = await start()
})
afterAll(() => run.stop())

/** Reads a stream until it has the event, and gives the ids in the order they came. */
async function readUntil(stop: AbortController, title: string, since?: number): Promise<readonly number[]> {
  const response = await fetch(`${run.url}/api/v1/events`, {
    headers: {
      authorization: `Bearer ${run.operator}`,
      ...(since === undefined ? {} : { 'last-event-id': String(since) }),
    },
    signal: stop.signal,
  })
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    if (text.includes(title)) break
  }
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
}

it('[REQ-DASH-7] with many dashboards open each gets every event once and in order, also what it missed', async () => {
  const before = await run.app.ledger.store.lastSeq()
  await run.addTask({ title: 'Missed by all' })
  const stop = new AbortController()
  const reading = Array.from({ length: STREAMS }, () => readUntil(stop, 'The last one', before))
  await expect.poll(() => run.app.feed.size).toBeGreaterThanOrEqual(STREAMS)
  for (const title of ['One', 'Two', 'Three', 'The last one']) await run.addTask({ title })
  const last = await run.app.ledger.store.lastSeq()
  const expected = Array.from({ length: last - before }, (_, index) => before + 1 + index)
  for (const ids of await Promise.all(reading)) expect(ids).toEqual(expected)
  stop.abort()
  expect(run.faults).toEqual([])
})

it('[REQ-DASH-7] events of many tasks that are written at the same moment arrive all and in order', async () => {
  const ids = Array.from({ length: 40 }, (_, index) => `busy-${index}`)
  for (const id of ids) await run.addTask({ id })
  const before = await run.app.ledger.store.lastSeq()
  const stop = new AbortController()
  const reading = readUntil(stop, 'The end', before)
  await expect.poll(() => run.app.feed.size).toBeGreaterThanOrEqual(1)
  // A change of a task and a new task take different ways through the server, and one transaction holds both.
  await Promise.all(
    ids.flatMap((id) => [
      run.call('POST', `/tasks/${id}/cancel`, run.operator, { reason: 'a test' }),
      run.addTask({ title: `beside ${id}` }),
    ]),
  )
  await run.addTask({ title: 'The end' })
  const last = await run.app.ledger.store.lastSeq()
  expect(await reading).toEqual(Array.from({ length: last - before }, (_, index) => before + 1 + index))
  stop.abort()
})

it('[REQ-LOGIN-8] with many dashboards open a session that ends still gets its last event, and no other', async () => {
  const stop = new AbortController()
  const others = Array.from({ length: STREAMS }, () => readUntil(stop, 'never').catch(() => []))
  const login = await run.call('POST', '/login', null, { operator_token: run.operator })
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const stream = await fetch(`${run.url}/api/v1/events`, { headers: { cookie } })
  await expect.poll(() => run.app.feed.size).toBeGreaterThan(STREAMS)
  const text = stream.text()
  await run.addTask({ title: 'Seen' })
  await run.call('POST', '/logout', null, {}, { cookie, 'x-csrf-token': String(login.body.csrf_token) })
  await run.addTask({ title: 'Not seen' })
  expect(await text).toContain('"Seen"')
  expect(await text).not.toContain('"Not seen"')
  stop.abort()
  await Promise.all(others)
})
