import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'

const CONTRACT = `
name: verdicts
version: "1"
phases:
  - { id: PLAN, allowed_tools: [read_files, bash], required_artifacts: [{ type: plan_document, description: The plan. }] }
  - { id: DONE, allowed_tools: [] }
transitions: [{ from: PLAN, to: DONE }]
enforcement: { confinement: off, reconcile: off, denial_budget: 50 }
`
let run: Running
let client: Client
beforeEach(async () => {
  run = await start({ contract: CONTRACT })
  const token = await run.addAgent('coder')
  await run.addTask({ id: 'T' })
  client = new Client({ name: 'any', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${run.url}/mcp`), { requestInit: { headers } }))
})
afterEach(async () => {
  await client.close()
  await run.stop()
})

async function call(name: string, args: Record<string, unknown> = {}): Promise<readonly [string, boolean]> {
  const { content, isError } = await client.callTool({ name, arguments: args })
  const [first = ''] = String((content as { text: string }[])[0]?.text).split('\n')
  // What programs parse stays JSON: the verdict is its first field.
  const [verdict = ''] = isError === true ? [first] : Object.values(JSON.parse(first) as Record<string, string>)
  return [verdict, isError === true]
}

it('[REQ-CONNECT-9] the first line of every result says allowed or refused, and refusals are errors', async () => {
  expect(await call('read_files', { path: 'a' })).toEqual(['Refused: read_files [no_active_task]', true])
  expect(await call('claim_task')).toEqual(['Allowed: claim_task', false])
  expect(await call('write_files', { path: 'a', content: 'a' })).toEqual([
    'Refused: write_files [forbidden_tool]',
    true,
  ])
  expect(await call('request_transition', { target_phase: 'DONE' })).toEqual([
    expect.stringMatching(/^Refused: request_transition \[\w+\]$/),
    true,
  ])
  expect(await call('claim_task', { task_id: 5 })).toEqual(['Refused: claim_task [invalid_request]', true])
  expect(await call('nonsense')).toEqual(['Refused: nonsense [unknown_tool]', true])
  expect(await call('get_workflow_state')).toEqual(['Allowed: get_workflow_state', false])
  // A command that failed was allowed; it is an error all the same.
  const [verdict] = await call('bash', { command: 'exit 3' })
  expect(verdict).toBe('Allowed: bash')
})
