import { spawn } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isFullDepth } from '../depth.js'
import { type Running, start } from '../http/harness.js'
import { built, ROOT, SCRIPT } from './program.js'

const CONTRACT = `
name: hooked
version: "1"
phases: [{id: PLAN, allowed_tools: [read_files]}, {id: DONE, allowed_tools: []}]
transitions: [{from: PLAN, to: DONE}]
enforcement: {confinement: best_effort, reconcile: off}
`
const BODY = { hook_event_name: 'BeforeTool', session_id: 's1', cwd: '/', tool_name: 'run_shell_command' }
const CALL = JSON.stringify({ ...BODY, tool_input: { command: 'ls' } }, null, 2)
const TODOS = JSON.stringify({ ...BODY, tool_name: 'write_todos', tool_input: { todos: [] } })
const STOP = JSON.stringify({ ...BODY, hook_event_name: 'AfterAgent' })

let dir: string
let run: Running
let token: string
let stranger: Server | null = null
beforeAll(built)
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-hook-'))
  run = await start({ contract: CONTRACT })
  await run.addTask({ id: 'T' })
  token = await run.addAgent('coder')
  await run.claim('coder', token, 'T')
  copyFileSync(join(ROOT, 'runtime/agent-hooks/hook.sh'), join(dir, 'hook.sh'))
  chmodSync(join(dir, 'hook.sh'), 0o755)
  aim(run.url, token)
})
afterEach(async () => {
  stranger?.close()
  stranger = null
  await run.stop()
  rmSync(dir, { recursive: true, force: true })
})

function aim(url: string, secret: string): void {
  writeFileSync(join(dir, 'address'), `${url}/api/v1\n`)
  writeFileSync(join(dir, 'headers'), `Authorization: Bearer ${secret}\n`)
  writeFileSync(join(dir, 'secret'), `${secret}\n`)
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function pipe(words: readonly string[], input: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const [program = '', ...args] = words
  const child = spawn(program, args, { cwd: dir, env: { PATH: process.env.PATH, HOME: dir, ...env } })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...said })))
}

/** Something that is not Phaselock and answers like this. */
async function answerLike(status: number, body: string): Promise<string> {
  stranger = createServer((request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => stranger?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
}

describe('the shell script for hooks', () => {
  const shim = (input: string, ...more: readonly string[]): Promise<Ended> =>
    pipe([join(dir, 'hook.sh'), 'gemini', ...more], input)

  it('[REQ-HOOK-33] passes on what Phaselock decides', async () => {
    expect(await shim(CALL)).toMatchObject({ code: 0, out: expect.stringMatching(/"deny".*forbidden_tool/) })
    expect(await shim(TODOS)).toMatchObject({ code: 0, out: expect.stringContaining('"allow"') })
    expect(await shim('{"hook_event')).toMatchObject({ code: 0, out: expect.stringContaining('"deny"') })
  })

  it('[REQ-HOOK-33] refuses when nobody answers, or something that is no answer does', async () => {
    aim('http://127.0.0.1:9', token)
    expect(await shim(TODOS)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('Phaselock did not answer'),
    })
    expect(await shim(STOP, 'open')).toMatchObject({ code: 0, out: '' })
    for (const [status, body] of [
      [500, '{"decision": "allow"}'],
      [302, '{"decision": "allow"}'],
      [200, ''],
      [200, 'allow'],
      [200, '{"decision": "allow"'],
      [204, ''],
    ] as const) {
      aim(await answerLike(status, body), token)
      expect(await shim(TODOS), `${status} ${body}`).toMatchObject({ code: 2, out: '' })
      stranger?.close()
    }
    // The script gives up before an agent CLI does.
    aim(await neverAnswer(), token)
    expect(await shim(TODOS)).toMatchObject({ code: 2, out: '' })
    stranger?.closeAllConnections()
    rmSync(join(dir, 'address'))
    expect(await shim(TODOS)).toMatchObject({ code: 2, out: '' })
  })
})

describe('phaselock hook', () => {
  const hook = (input: string, url = run.url, ...more: readonly string[]): Promise<Ended> =>
    pipe([SCRIPT, 'hook', 'gemini', '--url', url, '--secret-file', join(dir, 'secret'), ...more], input)

  const REFUSED = { code: 2, out: expect.stringMatching(/^\{"decision":"deny","reason":"Phaselock did not answer/) }

  it('[REQ-HOOK-33] passes on what Phaselock decides, and refuses in the words of the agent CLI when it is away', async () => {
    expect(await hook(CALL)).toMatchObject({ code: 0, out: expect.stringMatching(/"deny".*forbidden_tool/) })
    expect(await hook(TODOS, 'http://127.0.0.1:9')).toMatchObject(REFUSED)
  })

  it.runIf(isFullDepth())('[REQ-HOOK-33] refuses what is no hook, and answers that are none', async () => {
    expect(await hook(TODOS)).toMatchObject({ code: 0, out: expect.stringContaining('"allow"') })
    expect(await hook('{"hook_event', run.url)).toMatchObject(REFUSED)
    expect(await hook('', run.url)).toMatchObject(REFUSED)
    expect(await hook(TODOS, await answerLike(500, '{"decision": "allow"}'))).toMatchObject(REFUSED)
    // The end of a turn is let go: it would begin again for ever.
    expect(await hook(STOP, 'http://127.0.0.1:9')).toMatchObject({ code: 0, out: expect.not.stringContaining('deny') })
    expect(await pipe([SCRIPT, 'hook', 'vim'], CALL)).toMatchObject({ code: 2, out: '' })
  })
})

describe('the plugin for OpenCode', () => {
  type Before = (input: object, output: object) => Promise<void>

  /** As OpenCode loads it; `child` is a subagent of `root`, and nobody knows `stranger`. */
  async function load(): Promise<Before> {
    copyFileSync(join(ROOT, 'runtime/agent-hooks/opencode.js'), join(dir, 'opencode.mjs'))
    const { Phaselock } = await import(/* @vite-ignore */ pathToFileURL(join(dir, 'opencode.mjs')).href)
    const sessions: Readonly<Record<string, object>> = { root: {}, child: { parentID: 'root' } }
    const get = async ({ path }: { path: { id: string } }): Promise<object> => ({ data: sessions[path.id] })
    const hooks = await Phaselock({ client: { session: { get } }, directory: run.workspace })
    return hooks['tool.execute.before']
  }
  const todos = (sessionID: string) => [{ tool: 'todowrite', sessionID, callID: 'c1' }, { args: {} }] as const

  it('[REQ-HOOK-33] throws unless Phaselock allows the call, whatever else answers', async () => {
    const ask = await load()
    await ask(...todos('root'))
    await ask(...todos('child'))
    await expect(ask(...todos('stranger'))).rejects.toThrow('does not know this session')
    const shell = { tool: 'bash', sessionID: 'root', callID: 'c2' }
    await expect(ask(shell, { args: { command: 'ls' } })).rejects.toThrow('[forbidden_tool]')
    for (const [status, body] of [
      [500, '{"decision": "allow"}'],
      [200, ''],
      [200, '{"decision": "allow"'],
      [200, '{"decision": "ALLOW"}'],
      [200, '{"decision": ["allow"]}'],
      [200, '["allow"]'],
      [200, 'null'],
    ] as const) {
      aim(await answerLike(status, body), token)
      await expect(ask(...todos('root')), body).rejects.toThrow()
      stranger?.close()
    }
    aim('http://127.0.0.1:9', token)
    await expect(ask(...todos('root'))).rejects.toThrow()
    aim(await neverAnswer(), token)
    await expect(ask(...todos('root'))).rejects.toThrow()
    stranger?.closeAllConnections()
  }, 120_000)
})

/** A server that takes every call and answers none. */
async function neverAnswer(): Promise<string> {
  stranger = createServer(() => undefined)
  await new Promise<void>((resolve) => stranger?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
}
