import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installed } from '../mcp/packages.js'
import { type Running, start } from './harness.js'

const SPECTRAL = '@stoplight/spectral-cli@6.16.3'
const REDOCLY = '@redocly/cli@2.77.0'
const RUN_MS_MAX = 180_000

interface Finding {
  readonly rule: string
  readonly path: string
}

/** Rules of spectral that ask for what is not there, with the reason. */
const SWITCHED_OFF: Readonly<Record<string, string>> = {
  'contact-properties': 'asks for a mail address, and the project has none; it has an address on the web',
}

const HOOKS = ['codex', 'gemini', 'cursor', 'copilot', 'opencode']

/** What redocly finds and is as it should be. */
const EXPECTED = HOOKS.map((cli) => ({
  rule: 'operation-4xx-response',
  path: `#/paths/~1hooks~1${cli}/post/responses`,
  reason: 'a hook is refused with 200, in the words of its agent CLI: with another status the tool would run',
}))

describe('linters of OpenAPI documents', () => {
  let run: Running
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-linters-'))
  beforeAll(async () => {
    run = await start()
    const document = await (await fetch(`${run.url}/api/v1/openapi.json`)).text()
    writeFileSync(join(dir, 'openapi.json'), document)
    const rules = Object.fromEntries(Object.keys(SWITCHED_OFF).map((rule) => [rule, 'off']))
    writeFileSync(join(dir, 'ruleset.json'), JSON.stringify({ extends: [['spectral:oas', 'all']], rules }))
  })
  afterAll(async () => {
    await run.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const lint = async (program: string, words: readonly string[]): Promise<string> => {
    const child = spawn(process.execPath, [program, 'lint', 'openapi.json', ...words], {
      ...{ cwd: dir, timeout: RUN_MS_MAX, stdio: ['ignore', 'pipe', 'pipe'] },
      env: { PATH: process.env.PATH, HOME: dir, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    })
    let output = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    await once(child, 'close')
    return output
  }

  it('[REQ-SCHEMA-5] spectral finds nothing with all rules that apply', { timeout: RUN_MS_MAX }, async ({ skip }) => {
    const tool = installed('spectral', [SPECTRAL])
    if (!tool.ok) return skip(tool.reason)
    const program = join(tool.dir, 'node_modules/@stoplight/spectral-cli/dist/index.js')
    const output = await lint(program, ['--ruleset', 'ruleset.json', '--format', 'json', '--quiet'])
    const found = JSON.parse(output) as readonly { readonly code: string; readonly path: readonly string[] }[]
    expect(found.map(({ code, path }) => `${code} ${path.join('/')}`)).toEqual([])
  })

  it('[REQ-SCHEMA-5] redocly finds what is expected, and nothing else', { timeout: RUN_MS_MAX }, async ({ skip }) => {
    const tool = installed('redocly', [REDOCLY])
    if (!tool.ok) return skip(tool.reason)
    const program = join(tool.dir, 'node_modules/@redocly/cli/bin/cli.js')
    const output = await lint(program, ['--extends', 'recommended', '--format', 'json'])
    const { problems } = JSON.parse(output) as {
      problems: readonly { readonly ruleId: string; readonly location: readonly { readonly pointer: string }[] }[]
    }
    const found = problems.map(({ ruleId, location }): Finding => ({ rule: ruleId, path: location[0]?.pointer ?? '' }))
    expect(found).toEqual(expect.arrayContaining(EXPECTED.map(({ rule, path }) => ({ rule, path }))))
    expect(found.length, JSON.stringify(found)).toBe(EXPECTED.length)
  })
})
