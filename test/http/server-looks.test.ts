import { mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Running, start } from './harness.js'

let receiver: Server
let port = 0
let answer = 200

const makeContract = (): string => `
name: looked-after
version: "1"
phases:
  - id: PLAN
    name: Planning
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**"]}}
    gates:
      - {id: plan_ok, type: approval, approvers: [human], blockers: [{check: file_exists, path: docs/plan, message: There is a plan}]}
  - {id: IMPL, allowed_tools: [write_files]}
  - {id: DONE, allowed_tools: []}
transitions:
  - {from: PLAN, to: IMPL, gate: plan_ok}
  - {from: IMPL, to: PLAN, when: plan_is_wrong}
  - {from: IMPL, to: DONE}
webhooks:
  - {url: "http://127.0.0.1:${port}/hook/part-of-a-key", events: [task_created, task_completed]}
enforcement: {reconcile: block}
`

let run: Running
let token = ''
let hash = ''
const get = (path: string, who = run.operator) => run.call('GET', path, who)
const call = (path: string, body: object, who = token) => run.call('POST', path, who, body)

beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume()
    response.writeHead(answer).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = receiver.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
  run = await start({ contract: makeContract() })
  hash = run.app.defaultContract
  mkdirSync(join(run.workspace, 'docs'))
  await run.addTask({ id: 't' })
  token = await run.claim('ada', await run.addAgent('ada'), 't')
})
afterAll(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
  receiver.close()
})

const READS = ['/contracts/none/text', '/contracts/none/graph', '/webhooks', '/doctor', '/agents'] as const

describe('what operators see of the server', () => {
  it('[REQ-SHOWN-1] agents see none of it, and unknown contracts are not found', async () => {
    for (const path of READS) expect({ path, ...(await get(path, token)) }).toMatchObject({ path, status: 403 })
    for (const path of READS.slice(0, 2))
      expect(await get(path)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await call('/contracts/none/trust', {}, run.operator)).toMatchObject({ status: 404 })
  })

  it('[REQ-SHOWN-2] a contract is shown as YAML that is itself the contract', async () => {
    const { status, body } = await get(`/contracts/${hash}/text`)
    expect({ status, hash: body.hash, origin: body.origin }).toEqual({ status: 200, hash, origin: 'test' })
    const canonical = await get(`/contracts/${hash}`)
    expect(parse(String(body.text))).toEqual(canonical.body.contract)
    const again = await call('/contracts', { source: String(body.text) }, run.operator)
    expect(again.body).toMatchObject({ hash })
  })

  it('[REQ-SHOWN-2] the graph counts open tasks by phase and approvals by gate', async () => {
    await call('/tools/execute', { task_id: 't', tool_name: 'write_files', args: { path: 'src/x', content: 'x' } })
    await call('/tasks/transition', { task_id: 't', target_phase: 'IMPL' })
    await call('/tools/execute', { task_id: 't', tool_name: 'write_files', args: { path: 'docs/plan', content: 'x' } })
    await call('/tasks/transition', { task_id: 't', target_phase: 'IMPL' })
    await run.addTask({ id: 'other' })
    expect(await get(`/contracts/${hash}/graph`)).toMatchObject({
      status: 200,
      body: {
        phases: [{ id: 'PLAN', name: 'Planning' }, { id: 'IMPL' }, { id: 'DONE' }],
        transitions: [
          { from: 'PLAN', to: 'IMPL', gate: 'plan_ok', gates: ['plan_ok'], kind: 'forward' },
          { from: 'IMPL', to: 'PLAN', gate: null, when: 'plan_is_wrong', kind: 'back' },
          { from: 'IMPL', to: 'DONE', gates: [], kind: 'forward' },
        ],
        ...{ counts: { PLAN: 2 }, waiting: { plan_ok: 1 }, truncated: false },
      },
    })
  })

  it('[REQ-SHOWN-3] an agent is shown with how it is bound, how reliably it works, and its last call', async () => {
    await call('/usage', { input_tokens: 100, output_tokens: 7, message_id: 'm' })
    await call('/usage', { input_tokens: 150, output_tokens: 9, message_id: 'm' })
    const agents = async () =>
      ((await get('/agents')).body.agents as readonly { agent_id: string }[]).find(({ agent_id }) => agent_id === 'ada')
    expect(await agents()).toMatchObject({
      binding: { kind: 'rest', holds: expect.stringContaining('REST') },
      // One write outside docs, one gate without a plan.
      reliability: { refusals: 2, retries: 0, gates_first_try: 0, gates_passed: 0 },
      ...{ tokens: { input: 150, output: 9 }, last_call: { tool: 'write_files', phase: 'PLAN' } },
    })
    await run.addAgent('idle')
    await call('/tools/execute', { task_id: 't', tool_name: 'write_files', args: { path: 'src/x', content: 'x' } })
    expect(await agents()).toMatchObject({ reliability: { refusals: 3, retries: 1 } })
  })

  it('[REQ-SHOWN-4] webhooks show their newest deliveries and never the path of an address', async () => {
    const webhooks = async () => (await get('/webhooks')).body
    await expect.poll(webhooks).toMatchObject({
      webhooks: [
        {
          ...{ url: `http://127.0.0.1:${port}/…`, events: ['task_created', 'task_completed'], problem: null },
          last_deliveries: [{ event: 'task_created', status: 'delivered', attempts: 1 }, { event: 'task_created' }],
        },
      ],
    })
    answer = 500
    await run.addTask({ id: 'third' })
    await expect.poll(webhooks).toMatchObject({
      webhooks: [
        {
          problem: 'The last delivery failed: it answered 500.',
          last_deliveries: [{}, {}, { error: 'it answered 500' }],
        },
      ],
    })
    expect(JSON.stringify(await webhooks())).not.toMatch(/part-of-a-key/)
    const { checks } = (await get('/doctor')).body as { checks: readonly { name: string; status: string }[] }
    expect(checks.find(({ name }) => name.startsWith('webhook'))).toMatchObject({ status: 'warning' })
    answer = 200
  })

  it('[REQ-SHOWN-4] the checks of the server say what is well and what is not', async () => {
    const find = async (wanted: string) => {
      const { checks } = (await get('/doctor')).body as { checks: readonly { name: string }[] }
      return checks.find(({ name }) => name === wanted)
    }
    expect(await find('node')).toMatchObject({ status: 'ok', detail: `Node ${process.versions.node}` })
    expect(await find('work tree')).toMatchObject({ status: 'ok' })
    expect(await find('agents')).toMatchObject({ status: 'ok' })
    await call('/pause', { reason: 'lunch' }, run.operator)
    expect(await find('agents')).toMatchObject({ status: 'warning', detail: 'are paused: lunch' })
    await call('/unpause', { reason: 'back' }, run.operator)
  })
})

describe('a contract that nobody trusted', () => {
  it('[REQ-SHOWN-5] waits in the inbox until an operator trusts it; CI may not', async () => {
    const other = await start({ isTrusted: false })
    const own = other.app.defaultContract
    const trust = (who: string) => other.call('POST', `/contracts/${own}/trust`, who, {})
    const items = async () => (await other.call('GET', '/inbox', other.operator)).body.items
    expect(await items()).toMatchObject([{ kind: 'contract', id: own, actions: ['trust'] }])
    const ci = await other.call('POST', '/operators', other.operator, { name: 'robot', role: 'ci' })
    expect(await trust(String(ci.body.operator_token))).toMatchObject({ status: 403 })
    expect(await trust(other.operator)).toMatchObject({ status: 200, body: { hash: own, trusted: true } })
    expect(await items()).toEqual([])
    expect(other.app.contracts.isTrusted(own)).toBe(true)
    await other.stop()
  })
})
