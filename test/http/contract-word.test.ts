import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const contract = (more = '', name = 'posted') =>
  `name: ${name}\nversion: "1"\nphases:\n  - {id: A, allowed_tools: [bash]}\n  - {id: B}\n${more}\n`
const REF = '$' + '{env:HOME}'

let server: Running
let ci: string

beforeAll(async () => {
  server = await start({ environment: { HOME: '/root' } })
  const added = await server.call('POST', '/operators', server.operator, { name: 'pipeline', role: 'ci' })
  ci = String(added.body.operator_token)
})
afterAll(() => server.stop())

const post = (token: string, source: string) => server.call('POST', '/contracts', token, { source })
const listed = async (hash: unknown) => {
  const { contracts } = (await server.call('GET', '/contracts', server.operator)).body as {
    contracts: { hash: string; trusted: boolean }[]
  }
  return contracts.find((one) => one.hash === hash)
}

describe('a contract that a pipeline posts', () => {
  it.each([
    ['without a sandbox', 'enforcement: {confinement: off}', 'confinement'],
    ['with a variable of the server', `agents: {a: {harness: codex, env: {K: "${REF}"}}}`, 'HOME'],
    [
      'with another model address',
      'agents: {a: {harness: codex, env: {OPENAI_BASE_URL: "https://x.example"}}}',
      'x.ex',
    ],
    ['with notices to this machine', 'webhooks: [{url: "http://127.0.0.1:9/", events: [task_parked]}]', '127.0.0.1:9'],
    ['with notices to localhost', 'webhooks: [{url: "http://localhost./", events: [task_parked]}]', 'localhost'],
    ['with notices to a metadata service', 'webhooks: [{url: "http://[fe80::1]/", events: [task_parked]}]', 'fe80'],
  ])('[REQ-TRUST-3] %s is refused, and an operator may post it', async (_name, more, said) => {
    const source = contract(more)
    const refused = await post(ci, source)
    expect(refused.body).toMatchObject({ code: 'not_permitted' })
    expect(refused.status).toBe(403)
    expect(JSON.stringify(refused.body)).toContain(said)
    expect(refused.body.remedy).toContain('phaselock contract add')
    const accepted = await post(server.operator, source)
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(201)
    expect(await listed(accepted.body.hash)).toMatchObject({ trusted: true })
  })

  it('[REQ-TRUST-3] is accepted where it asks for nothing of this, and is not an operator’s word', async () => {
    const source = contract('webhooks: [{url: "https://example.org/", events: [task_parked]}]', 'harmless')
    const accepted = await post(ci, source)
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(201)
    expect(await listed(accepted.body.hash)).toMatchObject({ trusted: false })
    await post(server.operator, source)
    expect(await listed(accepted.body.hash)).toMatchObject({ trusted: true })
    await post(ci, source)
    expect(await listed(accepted.body.hash)).toMatchObject({ trusted: true })
  })
})

describe('a server with a least confinement', () => {
  it('[REQ-TRUST-4] refuses a posted contract that asks for less, and holds an older one to it', async () => {
    const options: { contract: string; minConfinement?: 'required' } = {
      contract: contract('enforcement: {confinement: off}', 'open'),
    }
    const first = await start(options)
    const hash = first.app.defaultContract
    Object.assign(options, { contract: contract(), minConfinement: 'required' })
    const second = await first.restart()
    try {
      const posted = await second.call('POST', '/contracts', second.operator, {
        source: contract('enforcement: {confinement: best_effort}'),
      })
      expect(posted).toMatchObject({ status: 400, body: { code: 'contract.invalid' } })
      expect(String(posted.body.detail)).toContain('--min-confinement required')
      expect((await second.app.contracts.get(hash)).enforcement.confinement).toBe('required')
    } finally {
      await second.stop()
    }
  })
})
