import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { built, SCRIPT } from '../cli/program.js'
import { makeRepository } from '../e2e/projects.js'
import { until } from '../launch/terminal.js'

let dir = ''
let repository = ''
let env: Record<string, string> = {}
const clients: Client[] = []
beforeAll(() => built(), 200_000)
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-connected-')))
  repository = join(dir, 'repository')
  mkdirSync(join(dir, 'home'))
  makeRepository(repository, { 'a.txt': 'a\n' })
  env = { HOME: join(dir, 'home'), PATH: `${dirname(SCRIPT)}:${dirname(process.execPath)}:/usr/bin:/bin` }
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  phaselock('down')
  rmSync(dir, { recursive: true, force: true })
})

const phaselock = (...words: readonly string[]) => spawnSync(SCRIPT, words, { cwd: repository, env, encoding: 'utf8' })
const agents = () => JSON.parse(phaselock('agents', '--json').stdout).agents as { binding: object; status: string }[]

/** An agent CLI that starts the MCP server of its configuration; its person answers forms with `answer`. */
async function openCli(binding: string, answer: 'yes' | 'no' | null): Promise<Client> {
  const capabilities = answer === null ? {} : { elicitation: { form: {} } }
  const client = new Client({ name: 'cli', version: '1' }, { capabilities })
  if (answer !== null)
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { begin: answer } }))
  const args = ['mcp', '--session', 'claude', '--binding', binding]
  await client.connect(new StdioClientTransport({ command: SCRIPT, args, cwd: repository, env, stderr: 'ignore' }))
  clients.push(client)
  return client
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const _meta = { 'claudecode/toolUseId': `toolu_${name}` }
  const { content, isError } = await client.callTool({ name, arguments: args, _meta })
  return { text: (content as { text: string }[]).map(({ text }) => text).join('\n'), isError: isError === true }
}

function setPassphrase(): void {
  const file = join(dir, 'passphrase')
  writeFileSync(file, 'correct horse battery staple\n', { mode: 0o600 })
  expect(phaselock('operator', 'passphrase', '--new-file', file)).toMatchObject({ status: 0 })
}

/** A hook that runs below the process of the agent CLI: here, of this test. */
function runHook(
  event: string,
  tool: string,
  input: object,
  program = 'phaselock-hook',
): Promise<{ exit: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', `${program} claude-code`], { cwd: repository, env })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.on('close', (exit) => resolve({ exit, said }))
    const body = { hook_event_name: event, session_id: 's', cwd: repository, tool_name: tool, tool_input: input }
    child.stdin.end(JSON.stringify({ ...body, tool_use_id: `toolu_${tool.split('__').at(-1)}`, tool_response: {} }))
  })
}

describe('a session of a connected repository', () => {
  it('[REQ-CONNECT-5] adds no task that its person did not confirm, and claims the one that they did', async () => {
    const asked = await openCli('project:tools-only', 'no')
    expect(await call(asked, 'claim_task')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Refused: claim_task/),
    })
    expect(await call(asked, 'begin_task', { title: 'Sum up' })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Refused: begin_task \[not_permitted\]\nThe person did not begin this task/),
    })
    const silent = await openCli('project:tools-only', null)
    expect((await call(silent, 'begin_task', { title: 'Sum up' })).text).toMatch(/phaselock task add "Sum up"/)
    expect(JSON.parse(phaselock('task', 'list', '--json').stdout).tasks).toEqual([])
    const agreed = await openCli('project:tools-only', 'yes')
    expect((await agreed.listTools()).tools.map(({ name }) => name)).toContain('begin_task')
    expect(await call(agreed, 'begin_task', { title: 'Sum up' })).toMatchObject({ isError: false })
    expect((await call(agreed, 'claim_task')).text).toMatch(/^Allowed: claim_task/)
    expect(agents().find(({ status }) => status === 'working')).toMatchObject({
      binding: { kind: 'project', mode: 'tools_only', agent_cli: 'claude-code' },
    })
    // The end of the CLI gives the task back and ends the agent.
    for (const client of clients.splice(0)) await client.close()
    const ended = await until(
      () => agents(),
      (all) => all.every(({ status }) => status === 'revoked'),
    )
    expect(ended).toHaveLength(3)
  }, 60_000)

  it('[REQ-CONNECT-4] its hooks are decided with its agent, and nothing is allowed when it is gone', async () => {
    expect(await runHook('PreToolUse', 'Bash', { command: 'true' })).toMatchObject({
      exit: 2,
      said: expect.stringContaining('no session'),
    })
    // Without a passphrase its shell could approve what it asks for.
    const early = await openCli('project:native', 'yes')
    expect((await call(early, 'claim_task')).text).toMatch(/no session with Phaselock.*operator passphrase/s)
    setPassphrase()
    const client = await openCli('project:native', 'yes')
    const before = await runHook('PreToolUse', 'Write', { file_path: 'x.js', content: 'x' })
    expect(before).toMatchObject({ exit: 0, said: expect.stringMatching(/"deny".*no_active_task/) })
    const begin = await runHook('PreToolUse', 'mcp__phaselock__begin_task', { title: 'x' })
    expect(begin.said).toContain('"permissionDecision":"allow"')
    phaselock('task', 'add', 'Sum up')
    // A call that no hook was asked about shows that the hooks are not active.
    expect((await call(client, 'claim_task')).text).toMatch(/^Refused: claim_task\n.*enforcement_not_live/s)
    await runHook('PreToolUse', 'mcp__phaselock__claim_task', {})
    expect((await call(client, 'claim_task')).isError).toBe(false)
    const write = await runHook('PreToolUse', 'Write', { file_path: 'x.js', content: 'x' })
    expect(write.said).toMatch(/"deny".*forbidden_tool/)
    for (const program of ['phaselock-hook', 'phaselock hook'])
      expect((await runHook('PreToolUse', 'Read', { file_path: 'a.txt' }, program)).said, program).toContain(
        '"permissionDecision":"allow"',
      )
    for (const open of clients.splice(0)) await open.close()
    expect(await runHook('PreToolUse', 'Read', { file_path: 'a.txt' })).toMatchObject({ exit: 2 })
    expect(await runHook('Stop', '', {})).toMatchObject({ exit: 0 })
  }, 60_000)
})
