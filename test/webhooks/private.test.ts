import { lookup } from 'node:dns/promises'
import { hostname } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { until } from '../mcp/clients.js'
import { openReceiver, type Receiver } from './receiver.js'

let server: Running | null = null
let hook: Receiver | null = null
afterEach(async () => {
  await server?.stop()
  await hook?.close()
})

const contract = (url: string) => `name: told
version: "1"
phases: [{id: A, allowed_tools: []}, {id: B}]
webhooks: [{url: "${url}", events: [task_cancelled]}]
`

async function cancelUnder(run: Running, hash: unknown): Promise<void> {
  const id = await run.addTask({ title: 'A task', contract: hash })
  const cancelled = await run.call('POST', `/tasks/${id}/cancel`, run.operator, { reason: 'enough' })
  expect(cancelled.status, JSON.stringify(cancelled.body)).toBe(200)
}

describe('notices of a contract', () => {
  it('[REQ-TRUST-6] go to a private address by an operator’s word alone, also where a name leads there', async (context) => {
    const name = hostname()
    const address = await lookup(name).catch(() => null)
    if (address === null || !/^127\./.test(address.address)) return context.skip()
    hook = await openReceiver()
    const url = new URL(hook.url)
    url.hostname = name
    const source = contract(url.href)
    server = await start({ contract: source, isTrusted: false })
    const found = server.app.defaultContract
    await cancelUnder(server, found)
    const failures = async (): Promise<string[]> => {
      const events = await server?.app.ledger.store.readStream('system', 0, 1000)
      return (events ?? []).flatMap(({ type, data }) => (type === 'webhook_failed' ? [String(data.reason)] : []))
    }
    await until(async () => (await failures()).length > 0)
    expect(await failures()).toEqual([expect.stringContaining('private address')])
    expect(hook.got).toEqual([])

    const vouched = await server.call('POST', '/contracts', server.operator, { source })
    expect(vouched.body.hash).toBe(found)
    await cancelUnder(server, found)
    await until(() => hook?.got.length === 1)
  })
})
