import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSocketDir } from '../../src/gateway/socket-paths.js'
import { built, ROOT } from '../cli/program.js'
import { processesWith } from '../confinement/scene.js'
import { until } from '../mcp/clients.js'
import { askThrough } from './asking.js'

const RUN_MS_MAX = 300_000
const MARKED = 'doors-killed-86463'

const dir = realpathSync(mkdtempSync('/var/tmp/phaselock-doors-killed-'))
beforeAll(built)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** A server with an agent behind the wall, as the supervisor of agents has it. */
function serving(): string {
  const from = (path: string): string => JSON.stringify(join(ROOT, 'dist', path))
  return `
import { mkdirSync } from 'node:fs'
import { openOrchestrator } from ${from('app/orchestrator.js')}
import { openConfinement } from ${from('confinement/open-confinement.js')}
import { findBundledContract } from ${from('contract/bundled-contracts.js')}
import { loadContractFile } from ${from('contract/load/load-contract.js')}
import { buildInsideCommand } from ${from('gateway/inside-command.js')}
import { openModelRelay } from ${from('gateway/model-relay.js')}
import { buildServer } from ${from('http/server.js')}
import { openSqliteStore } from ${from('store/sqlite-store.js')}
const [stateDir, workspace] = [${JSON.stringify(join(dir, 'state'))}, ${JSON.stringify(join(dir, 'tree'))}]
for (const one of [stateDir, workspace]) mkdirSync(one, { recursive: true, mode: 0o700 })
const wall = await openConfinement({ stateDir, only: null })
const onFault = (error) => console.error(error)
const contract = await loadContractFile(findBundledContract('tdd'))
const app = await openOrchestrator({
  store: await openSqliteStore({ dir: stateDir }), stateDir, workspace, onFault,
  contract: { ...contract, origin: 'test' }, environment: {}, confinement: async () => wall, contractFile: null,
})
const { server, agentSockets } = buildServer(app, { hosts: () => new Set(), onFault })
await server.ready()
const { path } = await agentSockets.open({ agentId: 'ada' })
const relay = await openModelRelay({ baseUrl: 'http://127.0.0.1:1', dir: agentSockets.dir })
const argv = ['bash', '-c', 'while :; do node -e "fetch(process.env.PHASELOCK_URL + \\'/health\\').then(r => console.log(r.status))"; sleep 0.1; done', '${MARKED}']
const confined = await wall.start({
  ...buildInsideCommand({ sockets: { orchestrator: path, model: { ...relay, variables: [] } }, env: {}, argv }),
  tree: workspace, cwd: '.', writes: 'discard', git: 'read', hidden: [], timeoutMs: 600000, signal: new AbortController().signal,
})
confined.stdout.on('data', (chunk) => console.log('told', chunk.toString().trim(), path, relay.path))
confined.stderr.pipe(process.stderr)
`
}

async function start(): Promise<{ readonly child: ChildProcess; readonly paths: readonly string[] }> {
  writeFileSync(join(dir, 'serving.mjs'), serving())
  const child = spawn(process.execPath, [join(dir, 'serving.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  const [told, status, ...paths] = said.toString().trim().split(/\s+/)
  expect([told, status, paths.length]).toEqual(['told', '200', 2])
  return { child, paths }
}

describe('a server that is killed', () => {
  it(
    '[REQ-SOCKET-5] takes its agents with it, their sockets lead nowhere, and the next server sweeps them',
    async () => {
      const { child, paths } = await start()
      expect(processesWith(MARKED).length).toBeGreaterThan(0)
      child.kill('SIGKILL')
      await once(child, 'exit')
      await until(() => processesWith(MARKED).length === 0)
      for (const path of paths) {
        expect(existsSync(path)).toBe(true)
        await expect(askThrough(path)).rejects.toThrow('ECONNREFUSED')
      }
      expect(readdirSync(openSocketDir(join(dir, 'state')))).toEqual([])
      expect(readFileSync('/proc/net/unix', 'utf8')).not.toContain(dir)
    },
    RUN_MS_MAX,
  )
})
