import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { built, SCRIPT } from '../cli/program.js'
import { type Running, start } from '../http/harness.js'
import { claude, RUN_MS_MAX, runClaude, VERSION } from './run-claude.js'
import { type ScriptedModel, scriptedModel } from './scripted-model.js'
import { SMALL, STEPS } from './small-workflow.js'

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
      const entry = { type: 'http', url: `${server.url}/mcp`, headers }
      await expectDone(await runClaude({ program: found.program, home, model, entry }))
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-MCP-17] completes a workflow over standard input and output',
    async ({ skip }) => {
      const found = claude()
      if (!found.ok) return skip(found.reason)
      const env = { PHASELOCK_URL: server.url, PHASELOCK_TOKEN: token, PATH: process.env.PATH ?? '', HOME: home }
      const entry = { command: SCRIPT, args: ['mcp'], env }
      await expectDone(await runClaude({ program: found.program, home, model, entry }))
    },
    RUN_MS_MAX,
  )
})
