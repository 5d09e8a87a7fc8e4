import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { built, SCRIPT } from '../cli/program.js'
import { type Running, start } from '../http/harness.js'
import { installed } from './packages.js'
import { MARK, type ScriptedModel, scriptedModel } from './scripted-model.js'
import { SMALL, STEPS } from './small-workflow.js'

const VERSION = '2.1.325'
const RUN_MS_MAX = 120_000

let server: Running
let model: ScriptedModel
let home: string
let token: string

beforeAll(built)
beforeEach(async () => {
  server = await start({ contract: SMALL })
  token = await server.addAgent('claude')
  model = await scriptedModel(STEPS.map(({ tool, args }) => ({ name: `mcp__phaselock__${tool}`, input: args })))
  home = mkdtempSync(join(tmpdir(), 'phaselock-claude-'))
})
afterEach(async () => {
  model.close()
  rmSync(home, { recursive: true, force: true })
  expect(server.faults).toEqual([])
  await server.stop()
})

function claude(): { readonly ok: true; readonly program: string } | { readonly ok: false; readonly reason: string } {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return { ok: false, reason: 'the build of Claude Code that is tried here is for Linux on x64' }
  const found = installed('claude', [`@anthropic-ai/claude-code-linux-x64@${VERSION}`])
  if (!found.ok) return found
  return { ok: true, program: join(found.dir, 'node_modules/@anthropic-ai/claude-code-linux-x64/claude') }
}

/** Runs Claude Code without a terminal, with no tools but those of Phaselock and a model that follows the script. */
async function runClaude(program: string, entry: Record<string, unknown>): Promise<string> {
  const work = join(home, 'work')
  mkdirSync(work)
  writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { phaselock: entry } }))
  const args = [
    ...['-p', `${MARK} Do the task.`, '--output-format', 'json', '--tools', '', '--setting-sources', ''],
    ...['--strict-mcp-config', '--mcp-config', join(home, 'mcp.json'), '--dangerously-skip-permissions'],
  ]
  const child = spawn(program, args, {
    cwd: work,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS_MAX,
    env: {
      ...{
        PATH: process.env.PATH,
        HOME: home,
        TMPDIR: home,
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
        LANG: 'C.UTF-8',
      },
      ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'test', CLAUDE_CODE_MAX_RETRIES: '1' },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1' },
      // Without the first, tools of MCP servers hide behind a search; without the second, root is turned away.
      ...{ DISABLE_ERROR_REPORTING: '1', ENABLE_TOOL_SEARCH: 'false', IS_SANDBOX: '1' },
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  await once(child, 'close')
  return output
}

async function expectDone(output: string): Promise<void> {
  expect(model.turns, output).toHaveLength(STEPS.length + 1)
  expect(model.turns[0]?.tools.every((name) => name.startsWith('mcp__phaselock__'))).toBe(true)
  for (const [index, { tool, refused }] of STEPS.entries()) {
    const [result] = model.turns[index + 1]?.results ?? []
    expect([tool, result?.isError], result?.text).toEqual([tool, refused !== undefined])
    if (refused !== undefined) expect(result?.text).toContain(`[${refused}]`)
  }
  expect(readFileSync(join(server.workspace, 'note.txt'), 'utf8')).toBe('two words\n')
  const { body } = await server.call('GET', '/tasks', server.operator)
  expect(body.tasks).toMatchObject([{ status: 'completed', agent_id: null }])
}

describe(`Claude Code ${VERSION}`, () => {
  it(
    '[REQ-MCP-17] completes a workflow over HTTP, and is refused what it tries too early',
    async ({ skip }) => {
      const found = claude()
      if (!found.ok) return skip(found.reason)
      const headers = { Authorization: `Bearer ${token}` }
      await expectDone(await runClaude(found.program, { type: 'http', url: `${server.url}/mcp`, headers }))
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-MCP-17] completes a workflow over standard input and output',
    async ({ skip }) => {
      const found = claude()
      if (!found.ok) return skip(found.reason)
      const env = { PHASELOCK_URL: server.url, PHASELOCK_TOKEN: token, PATH: process.env.PATH ?? '', HOME: home }
      await expectDone(await runClaude(found.program, { command: SCRIPT, args: ['mcp'], env }))
    },
    RUN_MS_MAX,
  )
})
