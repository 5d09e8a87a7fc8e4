import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

let run: Running
beforeAll(async () => {
  run = await start()
})
afterAll(() => run.stop())

const INVALID = { status: 400, body: { code: 'invalid_request' } }

it.each(['schlüssel', 'x'.repeat(201), ''])(
  '[REQ-HTTP-14] the idempotency key %j is refused by every call',
  async (key) => {
    const headers = { 'idempotency-key': Buffer.from(key).toString('latin1') }
    for (const [path, body] of [
      ['/pause', { reason: 'lunch' }],
      ['/login', { operator_token: run.operator }],
      ['/tasks', { title: 'x' }],
    ] as const)
      expect(await run.call('POST', path, path === '/login' ? null : run.operator, body, headers)).toMatchObject(
        INVALID,
      )
    expect((await run.call('GET', '/tasks', run.operator)).body.tasks).toEqual([])
  },
)

it('[REQ-HTTP-14] a key in the body is refused likewise, and a printable one is taken', async () => {
  const agent = await run.addAgent('coder')
  const phase = await run.claim('coder', agent, await run.addTask())
  const call = { task_id: 'none', tool_name: 'glob', args: { pattern: '*' } }
  const refused = await run.call('POST', '/tools/execute', phase, { ...call, idempotency_key: 'schlüssel' })
  expect(refused).toMatchObject(INVALID)
  expect(refused.body.detail).toContain('idempotency_key')
  const headers = { 'idempotency-key': 'a key: ~!' }
  const [first, second] = [
    await run.call('POST', '/tasks', run.operator, { title: 'once' }, headers),
    await run.call('POST', '/tasks', run.operator, { title: 'once' }, headers),
  ]
  expect(second.body.id).toBe(first.body.id)
})

it('[REQ-HTTP-14] null is not a body, and a body that needs no field may be left out', async () => {
  expect(await run.call('POST', '/login/codes', run.operator, 'null')).toMatchObject(INVALID)
  expect((await run.call('POST', '/login/codes', run.operator)).status).toBe(201)
})

it('[REQ-HTTP-14] numbers and cursors beyond the limits of the document are refused, those at the limit are not', async () => {
  for (const query of ['after_seq=1000000000000000', `cursor=${'c'.repeat(201)}`, 'cursor=%C3%A4', 'cursor='])
    expect(await run.call('GET', `/audit/query?${query}`, run.operator), query).toMatchObject(INVALID)
  expect((await run.call('GET', '/audit/query?after_seq=999999999999999', run.operator)).status).toBe(200)
  const { next_cursor: cursor } = (await run.call('GET', '/audit/query?limit=1', run.operator)).body
  expect((await run.call('GET', `/audit/query?cursor=${cursor}`, run.operator)).status).toBe(200)
})
