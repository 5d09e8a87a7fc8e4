import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyExport } from '../../src/store/export/verify-export.js'
import { type Running, start } from './harness.js'

let run: Running

const download = async (query = '', who = run.operator) => {
  const response = await fetch(`${run.url}/api/v1/audit/export${query}`, {
    headers: { authorization: `Bearer ${who}` },
  })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const query = async (asked: string) => {
  const { status, body } = await run.call('GET', `/audit/query?${asked}`, run.operator)
  expect(status).toBe(200)
  return body.events as readonly { readonly type: string; readonly seq: number; readonly actor: string }[]
}

beforeAll(async () => {
  run = await start()
  await run.addTask({ id: 't', title: 'Paint the shed "green"' })
  await run.addTask({ id: 'u', title: 'Something else' })
})
afterAll(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

describe('the audit of a server', () => {
  it('[REQ-SEARCH-1] is searched by text, actor and stream, and from an event on; nonsense is refused', async () => {
    for (const wrong of ['q=x', 'after_seq=-1', 'after_seq=x', 'actor=', 'since=yesterday', 'nothing=1'])
      expect(await run.call('GET', `/audit/query?${wrong}`, run.operator)).toMatchObject({ status: 400 })
    expect(await query('q=PAINT')).toMatchObject([{ type: 'task_created', stream: 'task:t' }])
    expect(await query(`q=${encodeURIComponent('"green"')}`)).toHaveLength(1)
    expect(await query('q=painted')).toEqual([])
    expect((await query('stream=system')).every(({ actor }) => actor === 'system')).toBe(true)
    const [newest] = await query('actor=operator:admin')
    expect(newest).toMatchObject({ type: 'task_created' })
    expect(await query(`after_seq=${(newest?.seq ?? 0) - 1}`)).toMatchObject([{ seq: newest?.seq }])
  })

  it('[REQ-SEARCH-2] an agent cannot export it, and a wrong filter is refused', async () => {
    expect(await download('', await run.addAgent('a'))).toMatchObject({ status: 403 })
    expect(await download('?since=yesterday')).toMatchObject({ status: 400 })
    expect(await download('?limit=1')).toMatchObject({ status: 400 })
    expect((await fetch(`${run.url}/api/v1/audit/export`)).status).toBe(401)
  })

  it('[REQ-SEARCH-2] the whole export is verified with the public key alone; one with a filter has what matches', async () => {
    const { status, type, text } = await download()
    expect({ status, type }).toEqual({ status: 200, type: 'application/x-ndjson' })
    expect(await verifyExport(Readable.from(text.trimEnd().split('\n')))).toMatchObject({ ok: true })
    // A line that was changed on the way.
    const forged = text.trimEnd().replace('Paint the shed', 'Paint the barn').split('\n')
    expect(await verifyExport(Readable.from(forged))).toMatchObject({ ok: false })
    const lines = linesOf(text)
    expect(lines[0]).toHaveProperty('public_key')
    expect(lines.at(-1)).toHaveProperty('signature')
    const some = await download('?type=task_created')
    expect(linesOf(some.text).map(({ stream }) => stream)).toEqual(['task:u', 'task:t'])
  })
})
