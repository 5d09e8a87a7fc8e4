import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { makeHome } from '../../src/participants/agent-cli/agent-cli-home.js'
import { makeCommandParticipant } from '../../src/participants/agent-cli/command-participant.js'
import type { ChatPart } from '../../src/participants/participant.js'
import { built, ROOT } from '../cli/program.js'
import { until } from '../mcp/clients.js'
import { AgentScript, processesWith } from './command-script.js'

const RUN_MS_MAX = 300_000
const MARKED = '86462'

const script = new AgentScript()
const dir = mkdtempSync(join(tmpdir(), 'phaselock-killed-'))
beforeAll(built)
afterAll(() => {
  script.remove()
  rmSync(dir, { recursive: true, force: true })
})

/** A process that asks an agent, as the server does, and waits for it. */
function asking(): string {
  const agent = script.does({ child: MARKED }, { say: 'There.' }, { wait: 600_000 })
  return `
import { openConfinement } from ${JSON.stringify(join(ROOT, 'dist/confinement/open-confinement.js'))}
import { makeCommandParticipant } from ${JSON.stringify(join(ROOT, 'dist/participants/agent-cli/command-participant.js'))}
const wall = await openConfinement({ stateDir: ${JSON.stringify(join(dir, 'state'))}, only: null })
const asked = makeCommandParticipant({
  agent: ${JSON.stringify(agent)},
  mcp: { url: 'http://127.0.0.1:9/mcp', token: 'the-token-of-the-agent' },
  start: (job) => wall.start(job),
  environment: process.env,
})
for await (const part of asked.chat([], [], new AbortController().signal)) console.log(part.type)
`
}

const homesOf = (pid: number): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`phaselock-agent-${pid}-`))

describe('where no sandbox holds', () => {
  it(
    '[REQ-AGENTCLI-5] calling a turn off ends the group of the agent, and its folder is gone',
    async () => {
      const open = await openConfinement({ stateDir: join(dir, 'open'), only: 'none' })
      const asked = makeCommandParticipant({
        agent: script.does({ tell: 'files' }, { wait: 600_000 }),
        mcp: { url: 'http://127.0.0.1:9/mcp', token: 'the-token-of-the-agent' },
        start: (job) => open.start(job),
        environment: { PATH: process.env.PATH },
      })
      const aborts = new AbortController()
      const parts: ChatPart[] = []
      for await (const part of asked.chat([], [], aborts.signal)) {
        parts.push(part)
        expect(processesWith('the-token-of-the-agent')).toEqual([])
        aborts.abort()
      }
      expect(parts).toMatchObject([{ type: 'text' }, { type: 'end', reason: 'failed', failure: { code: 'aborted' } }])
      expect(processesWith(script.dir)).toEqual([])
      expect(homesOf(process.pid)).toEqual([])
      await open.close()
    },
    RUN_MS_MAX,
  )
})

describe('a server that is killed', () => {
  it(
    '[REQ-AGENTCLI-5] takes its agents with it, and the next one removes what they had',
    async () => {
      writeFileSync(join(dir, 'asking.mjs'), asking())
      const server = spawn(process.execPath, [join(dir, 'asking.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(server.stdout, 'data')
      const pid = server.pid ?? 0
      expect(processesWith(script.dir).length).toBeGreaterThan(0)
      expect(processesWith(`sleep\0${MARKED}`).length).toBeGreaterThan(0)
      expect(homesOf(pid)).toHaveLength(1)
      server.kill('SIGKILL')
      await once(server, 'exit')
      await until(() => processesWith(script.dir).length + processesWith(`sleep\0${MARKED}`).length === 0)
      const next = makeHome()
      expect(homesOf(pid)).toEqual([])
      next.remove()
      expect(existsSync(next.dir)).toBe(false)
    },
    RUN_MS_MAX,
  )
})
