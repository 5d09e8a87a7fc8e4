import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { ERAS, McpAgent } from './clients.js'

const SERVER = join(import.meta.dirname, '../tools/upstream/fixtures/server.mjs')
const CONTRACT = `
name: upstream
version: "1"
phases:
  - id: WORK
    allowed_tools: [files.echo]
    required_artifacts: [{ type: note }]
  - id: LATER
    allowed_tools: [files.read]
mcp_servers:
  files: { command: node, args: [server.mjs] }
`

let server: Running
beforeAll(async () => {
  server = await start({ contract: CONTRACT })
  cpSync(SERVER, join(server.workspace, 'server.mjs'))
})
afterAll(() => server.stop())

describe.each(ERAS)('tools of upstream servers, for a client of $name', (era) => {
  it('[REQ-MCP-8] are listed as they were accepted, under the names of the contract, and called by them', async () => {
    const agent = await McpAgent.connect(server.url, await server.addAgent(`ada-${era.name}`), era)
    const listed = async () => (await agent.client.listTools(undefined, { cacheMode: 'bypass' } as never)).tools
    const before = (await listed()).find((tool) => tool.name === 'files.echo')
    expect(before).toMatchObject({ description: 'Tool of the MCP server files. Works in: WORK.' })
    await server.addTask()
    await agent.does('claim_task')
    const echo = (await listed()).find((tool) => tool.name === 'files.echo')
    expect(echo?.description).toMatch(/^Does .*Works in: WORK\.$/)
    expect(echo?.inputSchema).toMatchObject({ type: 'object', properties: { text: { type: 'string' } } })
    expect(await agent.does('files.echo', { text: 'hello' })).toMatchObject({ result: { content: 'hello' } })
    expect((await agent.refused('files.echo', { text: 1 })).structured.code).toBe('invalid_request')
    expect((await agent.refused('files.read', { path: 'server.mjs' })).structured.code).toBe('forbidden_tool')
    expect((await agent.refused('files.env', {})).structured.code).toBe('unknown_tool')
    await agent.close()
  })
})
