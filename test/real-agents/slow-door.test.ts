import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { fillHome, type HarnessHome, makeHome } from '../../src/participants/agent-cli/agent-cli-home.js'
import { RECIPES } from '../../src/participants/agent-cli/agent-cli-recipes.js'
import { type Running, start } from '../http/harness.js'
import { CODEX_VERSION, codex } from '../participants/real-agents.js'
import { type Model, openModel } from './model.js'

const RUN_MS_MAX = 300_000
const SLOW_MS = 2_000

let home: HarnessHome | null = null
let server: Running | null = null
let model: Model | null = null
let closeDoor = (): void => undefined
afterEach(async () => {
  closeDoor()
  model?.close()
  home?.remove()
  await server?.stop()
})

/** The entrance of a server, behind a door that takes its time to open. */
async function slowDoor(to: number): Promise<string> {
  const door = createServer((incoming, outgoing) => {
    setTimeout(
      () => {
        const headers = { ...incoming.headers, host: `127.0.0.1:${to}` }
        const passed = request({ host: '127.0.0.1', port: to, path: incoming.url, method: incoming.method, headers })
        passed.on('response', (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(outgoing)
        })
        passed.on('error', () => outgoing.destroy())
        outgoing.on('close', () => passed.destroy())
        incoming.pipe(passed)
      },
      incoming.headers['mcp-session-id'] === undefined ? SLOW_MS : 0,
    )
  })
  closeDoor = () => {
    door.closeAllConnections()
    door.close()
  }
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(door.address() as AddressInfo).port}/mcp`
}

/** Starts Codex as Phaselock does, and gives its exit code. */
async function runCodex(
  program: string,
  door: { readonly url: string; readonly token: string },
): Promise<number | null> {
  home = makeHome()
  mkdirSync(home.work, { recursive: true })
  const passed = { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: `${model?.url}/v1` }
  const made = RECIPES.codex.prepare({ home: home.home, mcp: door, model: 'scripted-1', passed, readsProject: true })
  fillHome(home.home, made.files)
  const env = { PATH: process.env.PATH, HOME: home.home, ...passed, ...made.env }
  const child = spawn(program, made.args, { cwd: home.work, env, stdio: ['pipe', 'ignore', 'ignore'] })
  child.stdin.end('[[script:waits]] Look around')
  return new Promise((resolve) => child.once('close', resolve))
}

describe(`Codex ${CODEX_VERSION}, whose door is slow or shut`, () => {
  it(
    '[REQ-SLOWDOOR-1] asks its model for nothing before it has the tools of Phaselock, and for nothing at all without them',
    async ({ skip }) => {
      const found = codex()
      if (!found.ok) return skip(found.reason)
      model = await openModel({ waits: () => null })
      server = await start()
      const shut = { url: `${server.url}/mcp`, token: 'none of ours' }
      expect(await runCodex(found.program, shut)).not.toBe(0)
      expect(model.talks).toEqual([])
      home?.remove()
      const slow = { url: await slowDoor(server.port), token: await server.addAgent('ada') }
      expect(await runCodex(found.program, slow)).toBe(0)
      expect(model.talks[0]?.tools.filter((name) => name.endsWith('__claim_task'))).toHaveLength(1)
    },
    RUN_MS_MAX,
  )
})
