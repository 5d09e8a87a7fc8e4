import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GUARANTEES, PROVIDERS } from '../../src/confinement/confinement.js'
import { sectionsOf } from './blocks.js'
import { type DocsServer, startServer } from './server.js'

type Answer = Record<string, unknown>

const LAX = `
name: lax
version: "1"
phases:
  - {id: WORK, allowed_tools: [bash, write_files], tool_constraints: {write_files: {allowed_patterns: ["tests/**"]}}}
  - {id: DONE}
enforcement: {confinement: best_effort}
`
const READERS = `
name: readers
version: "1"
phases: [{id: LOOK, allowed_tools: [read_files]}, {id: DONE}]
`
let server: DocsServer

beforeAll(async () => {
  server = await startServer(['--confinement', 'none'])
})
afterAll(async () => {
  await server?.stop()
})

async function call(path: string, token: unknown, body: object): Promise<Answer> {
  const response = await fetch(`http://localhost:${server.port}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Answer
}

async function claim(id: string, contract?: string): Promise<Answer> {
  if (contract !== undefined) await call('/contracts', server.operatorToken, { source: contract })
  const named = contract === undefined ? {} : { contract: /name: (\w+)/.exec(contract)?.[1] }
  await call('/tasks', server.operatorToken, { id, title: id, ...named })
  const { agent_token: token } = await call('/agents', server.operatorToken, { agent_id: `agent-${id}` })
  return call('/tasks/claim', token, { agent_id: `agent-${id}`, task_id: id })
}

test('[REQ-UNCONFINED-1] without a sandbox a strict contract that runs commands gets no agent, and every guarantee is named', async () => {
  const refused = await claim('strict')
  expect(refused).toMatchObject({
    status: 503,
    code: 'confinement_unavailable',
    remedy: expect.stringContaining('none'),
  })
  const missing = (refused.missing as { guarantee: string }[]).map((one) => one.guarantee)
  expect(missing.sort()).toEqual(Object.keys(GUARANTEES).sort())
  expect(server.said()).toMatch(/Confined +NOT ENFORCED: tree_writes/)
})

test('[REQ-UNCONFINED-1] a strict contract that runs no command is claimed all the same', async () => {
  expect(await claim('reads', READERS)).toMatchObject({ phase: 'LOOK', phase_token: expect.any(String) })
})

test('[REQ-UNCONFINED-1] a contract that does without the sandbox runs its commands, and the answer and the ledger say what was missing', async () => {
  const { phase_token: token } = await claim('lax', LAX)
  const command = { task_id: 'lax', tool_name: 'bash', args: { command: 'echo x > outside.txt' } }
  expect(await call('/tools/execute', token, command)).toMatchObject({
    decision: 'allowed',
    unenforced: Object.keys(GUARANTEES),
    result: { exit_code: 0, changes: [] },
  })
  expect(existsSync(join(server.workspace, 'outside.txt'))).toBe(true)
  const events = await fetch(`http://localhost:${server.port}/api/v1/audit/query?task_id=lax&type=tool_finished`, {
    headers: { authorization: `Bearer ${server.operatorToken}` },
  })
  expect(await events.json()).toMatchObject({ events: [{ data: { unenforced: Object.keys(GUARANTEES) } }] })
})

test('every guarantee and every provider of the sandbox is documented, and no other', () => {
  const [guarantees = '', providers = ''] = (sectionsOf('docs/security.md').get('The sandbox') ?? '').split(
    '| provider |',
  )
  const namesIn = (text: string) => [...text.matchAll(/^\| `([\w+]+)` \|/gm)].map(([, name]) => name)
  expect(namesIn(guarantees)).toEqual(Object.keys(GUARANTEES))
  expect(namesIn(providers)).toEqual(PROVIDERS)
})
