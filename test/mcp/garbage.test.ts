import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { INITIALIZE, modern } from './clients.js'

let server: Running
let callers: readonly { readonly token: string; readonly session: string }[]

const BASE = (token: string) => ({
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  authorization: `Bearer ${token}`,
})

async function openSession(token: string): Promise<string> {
  const opened = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: BASE(token),
    body: JSON.stringify(INITIALIZE),
  })
  await opened.text()
  return opened.headers.get('mcp-session-id') ?? ''
}

beforeAll(async () => {
  // Nobody is sent away for what they send.
  const endless = 'enforcement: {denial_budget: 1000000, confinement: best_effort}'
  server = await start({ contract: `name: open\nversion: "1"\nphases: [{id: A}, {id: B}]\n${endless}\n` })
  const agent = await server.addAgent('mallory')
  const task = await server.addTask()
  await server.claim('mallory', agent, task)
  const added = await server.call('POST', `/tasks/${task}/reviewers`, server.operator, { name: 'rita' })
  const tokens = [agent, String(added.body.review_token)]
  callers = await Promise.all(tokens.map(async (token) => ({ token, session: await openSession(token) })))
  for (const { session } of callers) expect(session).not.toBe('')
})
afterAll(() => server.stop())

const METHODS = [
  ...['initialize', 'ping', 'tools/list', 'tools/call', 'resources/read', 'resources/subscribe', 'prompts/get'],
  ...['server/discover', 'completion/complete', 'logging/setLevel', 'tasks/get', 'notifications/cancelled', 'a'],
]

const message = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '1.0', 2),
    id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.double({ noNaN: true, noDefaultInfinity: true })),
    method: fc.oneof(fc.constantFrom(...METHODS), fc.string()),
    params: fc.oneof(
      fc.jsonValue(),
      fc.record({
        name: fc.oneof(fc.constantFrom('grep', 'next', 'claim_task', 'submit_review', 'review_view'), fc.jsonValue()),
        arguments: fc.jsonValue(),
      }),
      fc.record({ uri: fc.oneof(fc.webUrl(), fc.jsonValue()) }),
      fc.record({
        _meta: fc.dictionary(fc.constantFrom(...Object.keys(modern('a').body.params._meta)), fc.jsonValue()),
      }),
    ),
  },
  { requiredKeys: [] },
)
const body = fc.oneof(message, fc.array(message, { maxLength: 3 }), fc.jsonValue())
const header = fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/)

it('[REQ-MCP-3] nothing that a client can send ends in a fault', async () => {
  await fc.assert(
    fc.asyncProperty(
      body,
      fc.record(
        {
          'mcp-protocol-version': fc.oneof(fc.constantFrom('2026-07-28', '2025-11-25', '2099-01-01'), header),
          'mcp-session-id': fc.oneof(fc.constant('SESSION'), header),
          'mcp-method': fc.oneof(fc.constantFrom(...METHODS), header),
          'mcp-name': header,
          accept: fc.oneof(fc.constant('*/*'), header),
        },
        { requiredKeys: [] },
      ),
      fc.constantFrom('POST', 'POST', 'POST', 'DELETE'),
      fc.constantFrom(0, 1),
      async (sent, headers, method, who) => {
        const { token, session } = callers[who] ?? { token: '', session: '' }
        const named = headers['mcp-session-id'] === 'SESSION' && method === 'POST' ? { 'mcp-session-id': session } : {}
        const response = await fetch(`${server.url}/mcp`, {
          method,
          headers: { ...BASE(token), ...headers, ...named },
          body: JSON.stringify(sent),
          signal: AbortSignal.timeout(20_000),
        })
        await response.text()
        expect(response.status).toBeLessThan(500)
      },
    ),
    { numRuns: 500 },
  )
  expect(server.faults).toEqual([])
})
