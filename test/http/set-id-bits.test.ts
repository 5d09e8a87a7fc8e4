import { chmodSync, cpSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import { isSandboxOnly } from '../../src/core/contract/contract-permissions.js'
import { type Answer, type Running, start } from './harness.js'

const SERVER = join(import.meta.dirname, '../tools/upstream/fixtures/server.mjs')
const REF = `$${'{env:UPSTREAM_TOKEN}'}`
const CONTRACT = `
name: bits
version: "1"
phases:
  - {id: WORK, allowed_tools: [write_files, bash, files.read]}
  - {id: DONE, allowed_tools: []}
mcp_servers:
  files: {command: node, args: [server.mjs, "${REF}", "--x=${REF}"]}
`

describe('what a contract without an operator and its commands cannot do', () => {
  let run: Running
  let token = ''
  const execute = (tool_name: string, args: object): Promise<Answer> =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
  const modeOf = (path: string): string => (statSync(join(run.workspace, path)).mode & 0o7777).toString(8)

  beforeAll(async () => {
    run = await start({ contract: CONTRACT, isTrusted: false, environment: { UPSTREAM_TOKEN: 'tok-123456789' } })
    cpSync(SERVER, join(run.workspace, 'server.mjs'))
    mkdirSync(join(run.workspace, 'there'))
    for (const name of ['old', 'kept']) writeFileSync(join(run.workspace, name), 'x', { mode: 0o644 })
    chmodSync(join(run.workspace, 'kept'), 0o4755)
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(() => run.stop())

  it('[REQ-WALL-17] bits that run a file as its owner or group do not reach the tree, and the executable bit does', async () => {
    const command = [
      'cp /bin/true new; chmod 4755 new; cp /bin/true group; chmod 2755 group; echo x > plain; chmod 755 plain',
      'chmod 6755 old; mkdir folder; chmod 3777 folder; chmod 2755 there; echo more >> kept; stat -c %a new group old',
    ].join('; ')
    const done = await execute('bash', { command })
    expect(done.status, JSON.stringify(done.body)).toBe(200)
    expect(['new', 'group', 'plain', 'old'].map(modeOf)).toEqual(['755', '755', '755', '755'])
    expect(['folder', 'there', 'kept'].map(modeOf)).toEqual(['777', '755', '755'])
    await execute('bash', { command: 'chmod 4755 plain; chmod 2755 there' })
    await execute('write_files', { path: 'plain', content: 'y' })
    expect(['plain', 'there'].map(modeOf)).toEqual(['755', '755'])
  })

  it('[REQ-TRUST-3] a reference to a variable of the server in the arguments of an MCP server stays as it is written', async () => {
    const { status, body } = await execute('files.read', { path: '/proc/self/cmdline' })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(JSON.stringify(body)).toContain(REF)
    expect(JSON.stringify(body)).not.toContain('tok-123456789')
  })

  it('[REQ-TRUST-3] in its environment or address it needs the word of an operator', async () => {
    const isUnasked = async (server: string): Promise<boolean> => {
      const source = CONTRACT.replace(/ {2}files: .*/, `  files: ${server}`)
      const loaded = await loadContractText(source, { file: 'test.yaml', baseDir: null })
      if (!loaded.ok) throw new Error('the contract does not load')
      return isSandboxOnly(loaded.contract)
    }
    expect(await isUnasked(`{url: "https://example.org/${REF}"}`)).toBe(false)
    expect(await isUnasked(`{command: node, env: {A: "${REF}"}}`)).toBe(false)
    expect(await isUnasked('{command: node, args: [server.mjs]}')).toBe(true)
  })
})
