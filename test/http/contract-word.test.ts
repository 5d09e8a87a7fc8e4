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

describe('a contract that is posted', () => {
  it.each([
    ['harmless', ''],
    ['without a sandbox', 'enforcement: {confinement: off}'],
    ['with a variable of the server', `agents: {a: {harness: codex, env: {K: "${REF}"}}}`],
    ['with notices to this machine', 'webhooks: [{url: "http://127.0.0.1:9/", events: [task_parked]}]'],
  ])('[REQ-TRUST-3] %s, is refused to a pipeline and counts by the word of an operator', async (_name, more) => {
    const source = contract(more)
    expect(await post(ci, source)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    const accepted = await post(server.operator, source)
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(201)
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
