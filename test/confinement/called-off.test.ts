import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConfinement } from '../../src/confinement/open.js'
import type { Confinement } from '../../src/confinement/port.js'

const DIR = mkdtempSync(join(tmpdir(), 'phaselock-called-off-'))
const TREE = mkdtempSync(join(tmpdir(), 'phaselock-called-off-tree-'))
const DELAYS_MS = Array.from({ length: 30 }, (_, index) => index)
const STUCK_MS = 10_000

let wall: Confinement
beforeAll(async () => {
  wall = await openConfinement({ stateDir: DIR, only: null })
})
afterAll(async () => {
  await wall.close()
  for (const dir of [DIR, TREE]) rmSync(dir, { recursive: true, force: true })
})

function running(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(TREE)
    } catch {
      return false
    }
  })
}

describe('a command that is called off while it starts', () => {
  it('[REQ-CALLOFF-1] ends at once and leaves nothing running, whenever that is', async () => {
    for (const delay of DELAYS_MS) {
      const aborts = new AbortController()
      const command = await wall.start({
        ...{ tree: TREE, argv: ['sleep', '86463'], cwd: '.', env: {}, network: false, writes: 'discard' },
        ...{ git: 'read', hidden: [], signal: aborts.signal, timeoutMs: 600_000 },
      })
      for (const stream of [command.stdout, command.stderr]) stream.resume()
      await sleep(delay)
      aborts.abort()
      const ended = await Promise.race([command.done, sleep(STUCK_MS, 'stuck' as const, { ref: false })])
      expect([delay, ended]).toMatchObject([delay, { stopped: 'aborted' }])
      expect(running()).toEqual([])
    }
  }, 120_000)
})
