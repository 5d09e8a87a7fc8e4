import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type Answer, built, Place, ROOT, type Server } from './program.js'

const CONTRACT = `
name: upstream
version: "1"
phases:
  - id: WORK
    allowed_tools: [files.echo]
  - id: DONE
    allowed_tools: []
mcp_servers:
  files: {command: node, args: [server.mjs]}
`
const place = new Place()
const upstream = join(place.work, 'server.mjs')
const contract = join(place.home, 'upstream.yaml')
let server: Server

beforeAll(async () => {
  await built()
  cpSync(join(ROOT, 'test/tools/upstream/fixtures/server.mjs'), upstream)
  writeFileSync(contract, CONTRACT)
  server = await place.serve(['--contract', contract])
  await place.json(['task', 'add', 'Use a tool', '--id', 't'])
})

async function call(path: string, token: unknown, body: unknown): Promise<Answer> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  return response.json() as Promise<Answer>
}

test('[REQ-CLI-22] nothing is accepted without a reason, for a task that is not there or has no upstream tools', async () => {
  expect(await place.run(['task', 'accept-tools', 't'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--reason'),
  })
  expect(await place.run(['task', 'accept-tools', 'nope', '--reason', 'x'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no task "nope"'),
  })
  const plain = { source: 'name: plain\nversion: "1"\nphases: [{id: A}]\n' }
  await call('/contracts', readFileSync(join(server.stateDir, 'operator.token'), 'utf8').trim(), plain)
  await place.json(['task', 'add', 'Plain', '--id', 'p', '--contract', 'plain'])
  expect(await place.run(['task', 'accept-tools', 'p', '--reason', 'x'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('names no upstream tools'),
  })
})

test('[REQ-CLI-22] a tool that changed is called again once its new definition is accepted', async () => {
  const { agent_token: agent } = await place.json(['agent', 'add', 'a'])
  const { phase_token: token } = await call('/tasks/claim', agent, { agent_id: 'a', task_id: 't' })
  const echo = () => call('/tools/execute', token, { task_id: 't', tool_name: 'files.echo', args: { text: 'hello' } })
  const before = await place.json(['task', 'show', 't'])
  // A server that runs is kept for the next call: only a new one says something else.
  server.kill('SIGTERM')
  await server.ended
  writeFileSync(upstream, readFileSync(upstream, 'utf8').replace('`Does $', '`Now does $'))
  server = await place.serve(['--contract', contract])
  expect(await echo()).toMatchObject({ code: 'tool_failed' })
  const said = await place.run(['task', 'accept-tools', 't', '--reason', 'looked at it'])
  expect(said).toMatchObject({ code: 0, stderr: '' })
  expect(said.stdout).toMatch(/^t accepts 1 upstream tools:\n {2}files\.echo {2}[0-9a-f]{64}\n$/)
  expect(await echo()).toMatchObject({ result: { content: 'hello' } })
  const accepted = await place.json(['task', 'accept-tools', 't', '--reason', 'once more'])
  expect(said.stdout).toContain((accepted.accepted_tools as Answer)['files.echo'])
  expect(JSON.stringify(before)).not.toContain((accepted.accepted_tools as Answer)['files.echo'])
})
