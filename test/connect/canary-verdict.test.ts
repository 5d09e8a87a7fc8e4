import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCanary } from '../../src/cli/canary/run-canary.js'
import { SCRIPT } from '../cli/program.js'
import { makeRepository } from '../e2e/projects.js'

let dir = ''
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-verdict-')))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** An agent CLI of a few lines: `ask` asks its model, `take` reads the call, `tell` says what came of it. */
const CLI = `
const [, url] = process.argv
const post = async (body) => (await fetch(url + '/v1/chat/completions', { method: 'POST', body: JSON.stringify(body) })).text()
const ask = (tools, messages = []) => post({ messages, tools })
const take = (text) => JSON.parse(JSON.parse(text.split('\\n')[0].slice(6)).choices[0].delta.tool_calls[0].function.arguments)
const tell = (content) => ask([{ type: 'function' }], [{ role: 'tool', content }])
`

const judge = (program: string, timeoutMs = 60_000) =>
  runCanary({
    ...{ program: process.execPath, workspace: dir, timeoutMs, env: () => ({}) },
    args: (url) => ['--input-type=module', '-e', `${CLI}${program}`, url],
    call: (file) => ({ tool: 'bash', input: { command: `touch '${file}'` } }),
  })

const TITLE = 'await ask([]);'
const CALLED = "const { command } = take(await ask([{ type: 'function' }]));"

describe('the verdict of the canary', () => {
  it.each([
    ['hangs after it asked for a title', `${TITLE} setInterval(() => {}, 1000)`, 3000],
    ['fails after it asked for a title', `${TITLE} process.exit(1)`, 60_000],
    ['does not start', 'process.exit(1)', 60_000],
    ['says nothing about the call', CALLED, 60_000],
    ['meets another obstacle', `${CALLED} await tell(command + ': Read-only file system')`, 60_000],
  ])('[REQ-CONNECT-6] proves nothing where the agent CLI %s', async (_, program, timeoutMs) => {
    expect(await judge(program, timeoutMs)).toMatchObject({ kind: 'unknown' })
  })

  it('[REQ-CONNECT-6] is "executed" where the call was made, whatever the agent CLI says', async () => {
    const program = `${CALLED} (await import('node:child_process')).execSync(command); await tell('refused by Phaselock')`
    expect(await judge(program)).toEqual({ kind: 'executed' })
  })

  it('[REQ-CONNECT-6] is "refused" where Phaselock said so, where the tool is off, and where no tools are offered', async () => {
    expect(await judge(`${CALLED} await tell('Phaselock: this tool is off')`)).toMatchObject({ by: 'phaselock' })
    expect(await judge(`${CALLED} await tell('Tool bash not found')`)).toMatchObject({ kind: 'refused', by: 'off' })
    expect(await judge(TITLE)).toMatchObject({ kind: 'refused', by: 'off' })
  })
})

describe('doctor --agents', () => {
  it('[REQ-CONNECT-6] says that an agent CLI does not answer, and not that it is missing', () => {
    makeRepository(join(dir, 'repository'), { 'a.txt': 'a\n' })
    mkdirSync(join(dir, 'bin'))
    writeFileSync(join(dir, 'bin/gemini'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const PATH = [join(dir, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':')
    const { stdout } = spawnSync(SCRIPT, ['doctor', '--agents', '--json'], {
      ...{ cwd: join(dir, 'repository'), env: { HOME: dir, PATH }, encoding: 'utf8' },
    })
    const { findings } = JSON.parse(stdout) as { findings: { name: string; status: string; detail: string }[] }
    expect(findings.find(({ name }) => name === 'gemini')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('does not say its version'),
    })
  })
})
