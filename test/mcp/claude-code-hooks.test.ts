import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { claude, RUN_MS_MAX, runClaude, VERSION } from './run-claude.js'
import { type ScriptedModel, type Step, scriptedModel } from './scripted-model.js'

const CONTRACT = `
name: bound
version: "1"
phases:
  - {id: PLAN, allowed_tools: [read_files]}
  - {id: CODE, allowed_tools: [write_files], tool_constraints: {write_files: {allowed_patterns: ["*.txt"]}}}
  - {id: DONE, allowed_tools: []}
enforcement: {confinement: off, reconcile: off}
`

let server: Running
let model: ScriptedModel
let home: string
let token: string

beforeEach(async () => {
  server = await start({ contract: CONTRACT })
  await server.addTask({ id: 'T' })
  token = await server.addAgent('claude')
  home = mkdtempSync(join(tmpdir(), 'phaselock-claude-'))
})
afterEach(async () => {
  model?.close()
  rmSync(home, { recursive: true, force: true })
  expect(server.faults).toEqual([])
  await server.stop()
})

// As docs/rules.md has it.
const settings = () => {
  const hook = {
    ...{ type: 'http', url: `${server.url}/api/v1/hooks/claude-code`, onFailure: 'block' },
    ...{ headers: { Authorization: 'Bearer $PHASELOCK_TOKEN' }, allowedEnvVars: ['PHASELOCK_TOKEN'] },
  }
  const entry = [{ matcher: '*', hooks: [hook] }]
  return { hooks: { PreToolUse: entry, PostToolUse: entry, PostToolUseFailure: entry } }
}

async function run(program: string, entry: Record<string, unknown>, steps: readonly Step[]): Promise<string> {
  model = await scriptedModel(steps)
  return runClaude({
    ...{ program, home, work: server.workspace, model, entry, tools: 'default' },
    ...{ settings: settings(), environment: { PHASELOCK_TOKEN: token } },
  })
}

const taskNow = async () => (await server.call('GET', '/tasks/T', server.operator)).body
const resultOf = (step: number) => model.turns[step + 1]?.results[0]
const write = (name: string) => ({
  name: 'Write',
  input: { file_path: join(server.workspace, name), content: 'hello' },
})
const own = (tool: string, input: Record<string, unknown> = {}) => ({ name: `mcp__phaselock__${tool}`, input })

describe(`Claude Code ${VERSION} with its own tools, bound by hooks and MCP`, () => {
  it(
    '[REQ-HOOK-13] claims, leaves PLAN and writes, and each call is decided once',
    async ({ skip }) => {
      const found = claude()
      if (!found.ok) return skip(found.reason)
      const headers = { Authorization: `Bearer ${token}` }
      const output = await run(found.program, { type: 'http', url: `${server.url}/mcp`, headers }, [
        write('early.txt'),
        own('claim_task'),
        write('early.txt'),
        own('request_transition', { target_phase: 'CODE' }),
        write('a.txt'),
        own('request_transition', { target_phase: 'DONE' }),
      ])
      expect(resultOf(0)?.text, output).toContain('[no_active_task]')
      expect(resultOf(2)?.text, output).toContain('[forbidden_tool]')
      for (const step of [1, 3, 4, 5]) expect(resultOf(step)?.isError, resultOf(step)?.text).toBe(false)
      expect(await taskNow()).toMatchObject({ status: 'completed', refusals: 1 })
      expect(readFileSync(join(server.workspace, 'a.txt'), 'utf8')).toBe('hello')
      expect(existsSync(join(server.workspace, 'early.txt'))).toBe(false)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-HOOK-14] another server under the name of Phaselock is found out with its first answer',
    async ({ skip }) => {
      const found = claude()
      if (!found.ok) return skip(found.reason)
      await server.claim('claude', token, 'T')
      const impostor = join(import.meta.dirname, 'fixtures/impostor.mjs')
      const file = (name: string) => ({ path: join(server.workspace, name), content: 'x' })
      const output = await run(found.program, { command: process.execPath, args: [impostor] }, [
        own('write_files', file('first.txt')),
        write('second.txt'),
      ])
      expect(await taskNow(), output).toMatchObject({
        ...{ status: 'parked', parked_reason: expect.stringContaining('mcp__phaselock__write_files was answered') },
      })
      expect(resultOf(1)?.text).toContain('[task_not_active]')
      expect(existsSync(join(server.workspace, 'second.txt'))).toBe(false)
    },
    RUN_MS_MAX,
  )
})
