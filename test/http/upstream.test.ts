import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const SERVER = join(import.meta.dirname, '../tools/upstream/fixtures/server.mjs')
const CONTRACT = `
name: upstream
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files, files.echo, files.read, files.env, writer.write]
    tool_constraints: {write_files: {allowed_patterns: ["tests/**"]}}
  - id: DONE
    allowed_tools: []
mcp_servers:
  files: {command: node, args: [server.mjs], env: {TOKEN: "\${env:UPSTREAM_TOKEN}"}}
  writer: {command: node, args: [server.mjs], writable: ["tests/**", "src/**"]}
`

describe('upstream tools from outside', () => {
  let run: Running
  let token = ''
  const execute = (tool_name: string, args: object): Promise<Answer> =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })

  beforeAll(async () => {
    run = await start({ contract: CONTRACT, environment: { UPSTREAM_TOKEN: 'tok-123456789', OTHER_SECRET: 'never' } })
    mkdirSync(join(run.workspace, 'tests'))
    cpSync(SERVER, join(run.workspace, 'server.mjs'))
    writeFileSync(join(run.workspace, 'note.txt'), 'from the tree')
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(() => run.stop())

  it('[REQ-UPSTREAM-11] a tool of an upstream server runs in the sandbox as it was pinned', async () => {
    expect(await execute('files.echo', { text: 'hello' })).toMatchObject({
      status: 200,
      body: { result: { content: 'hello' } },
    })
    expect(await execute('files.read', { path: 'note.txt' })).toMatchObject({
      body: { result: { content: 'from the tree' } },
    })
    expect(await execute('files.read', { path: join(run.stateDir, 'operator.token') })).toMatchObject({
      status: 400,
      body: { code: 'tool_failed' },
    })
    const answer = await execute('files.env', {})
    expect(JSON.stringify(answer.body)).not.toMatch(/tok-123456789|never|PHASELOCK/)
    expect(await execute('files.echo', { text: 1 })).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(await execute('files.nothing', {})).toMatchObject({ status: 403, body: { code: 'unknown_tool' } })
  })

  it('[REQ-UPSTREAM-12] what a writing server changes is checked against the phase, and kept or dropped whole', async () => {
    expect(await execute('writer.write', { path: 'tests/made.txt', content: 'x' })).toMatchObject({ status: 200 })
    expect(readFileSync(join(run.workspace, 'tests/made.txt'), 'utf8')).toBe('x')
    expect(await execute('writer.write', { path: 'src/made.txt', content: 'x' })).toMatchObject({
      status: 403,
      body: { code: 'constraint_violation', paths: ['src/made.txt'] },
    })
    expect(existsSync(join(run.workspace, 'src'))).toBe(false)
  })

  it('[REQ-UPSTREAM-13] a tool that changed is refused until an operator accepts it', async () => {
    const file = join(run.workspace, 'server.mjs')
    writeFileSync(file, readFileSync(file, 'utf8').replace('`Does $', '`Now does $'))
    // The next call of a tree that others changed meets a new server.
    run.app.upstream().endTree(run.workspace, 'now')
    const changed = await execute('files.echo', { text: 'hello' })
    expect(changed).toMatchObject({
      status: 400,
      body: { code: 'tool_failed', detail: expect.stringMatching(/changed|accept/) },
    })
    const accept = (who: string) => run.call('POST', '/tasks/t/tools/accept', who, { reason: 'the new server' })
    expect(await accept(token)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await accept(run.operator)).toMatchObject({
      status: 200,
      body: { accepted_tools: { 'files.echo': expect.any(String) } },
    })
    expect(await execute('files.echo', { text: 'again' })).toMatchObject({
      status: 200,
      body: { result: { content: 'again' } },
    })
  })

  it('[REQ-UPSTREAM-14] a task is not created when a server does not start or does not list what the contract names', async () => {
    const dir = join(run.workspace, '..', 'other')
    mkdirSync(dir)
    expect(await run.call('POST', '/tasks', run.operator, { title: 'x', workspace: dir })).toMatchObject({
      status: 400,
      body: { code: 'tool_failed', detail: expect.stringContaining('files') },
    })
  })
})
