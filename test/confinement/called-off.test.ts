import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openControlGroups } from '../../src/confinement/launch/limits.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'

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

// Every server that starts on this machine, as other tests do, removes the group while it is still empty.
function putInto(group: string, pid: number | undefined): void {
  for (let tries = 1; ; tries += 1) {
    mkdirSync(group, { recursive: true })
    try {
      writeFileSync(join(group, 'cgroup.procs'), String(pid))
      return
    } catch (error) {
      if (tries === 20) throw error
    }
  }
}

describe('a server that was killed while a command started', () => {
  it('[REQ-CALLOFF-2] leaves nothing that the next one does not end', async ({ skip }) => {
    if (openControlGroups() === null) return skip('control groups need root')
    const V2 = '/sys/fs/cgroup'
    const root = existsSync(join(V2, 'cgroup.controllers')) ? V2 : join(V2, 'pids')
    const gone = spawn('true')
    await once(gone, 'exit')
    const group = join(root, `phaselock-${gone.pid}-1`)
    const orphan = spawn('sleep', ['86464'], { stdio: 'ignore' })
    const ended = once(orphan, 'exit')
    putInto(group, orphan.pid)
    openControlGroups()
    expect(await ended).toEqual([null, 'SIGKILL'])
    for (let tries = 0; existsSync(group) && tries < 50; tries += 1) await sleep(100)
    expect(existsSync(group)).toBe(false)
  })
})

describe('servers that start at the same time', () => {
  it('[REQ-CALLOFF-2] remove the same groups, and none of them fails', async ({ skip }) => {
    if (openControlGroups() === null) return skip('control groups need root')
    const root = existsSync('/sys/fs/cgroup/cgroup.controllers') ? '/sys/fs/cgroup' : '/sys/fs/cgroup/pids'
    const gone = spawn('true')
    await once(gone, 'exit')
    for (let count = 0; count < 300; count += 1) mkdirSync(join(root, `phaselock-${gone.pid}-${count}`))
    const program = "import('./dist/confinement/launch/limits.js').then(({ openControlGroups }) => openControlGroups())"
    const starts = Array.from({ length: 6 }, () => once(spawn(process.execPath, ['-e', program]), 'exit'))
    expect(await Promise.all(starts)).toEqual(starts.map(() => [0, null]))
    expect(readdirSync(root).filter((name) => name.startsWith(`phaselock-${gone.pid}-`))).toEqual([])
  })
})

describe('a sandbox whose own process was killed', () => {
  // In a process of its own: what must not happen is that it never answers again.
  const program = `import { readdirSync, readFileSync } from 'node:fs'
const { openConfinement } = await import(process.argv[1])
const wall = await openConfinement({ stateDir: process.argv[2], only: null })
const job = { tree: process.argv[3], argv: ['true'], cwd: '.', env: {}, network: false, writes: 'discard', git: 'read', hidden: [] }
const start = () => wall.start({ ...job, signal: new AbortController().signal, timeoutMs: 60_000 })
const command = await start()
for (const stream of [command.stdout, command.stderr]) stream.resume()
console.log('first', (await command.done).exitCode)
const isOwn = (pid) => {
  try {
    return readFileSync('/proc/' + pid + '/status', 'utf8').includes('\\nPPid:\\t' + process.pid + '\\n')
  } catch { return false }
}
for (const pid of readdirSync('/proc')) if (/^\\d+$/.test(pid) && isOwn(pid)) process.kill(Number(pid), 'SIGKILL')
if (process.argv[4] === 'later') await new Promise((resolve) => setTimeout(resolve, 300))
const next = await start().catch((error) => console.log('refused', error.name))
if (next !== undefined) {
  for (const stream of [next.stdout, next.stderr]) stream.resume()
  await next.done.then(({ exitCode }) => console.log('second', exitCode), (error) => console.log('refused', error.name))
}
process.exit(0)
`
  it.each(['at once', 'later'])(
    '[REQ-CALLOFF-3] is opened again by itself, whenever the next command is started: %s',
    async (when) => {
      const module = new URL('../../dist/confinement/open-confinement.js', import.meta.url).href
      const dir = mkdtempSync(join(tmpdir(), 'phaselock-killed-keeper-'))
      const child = spawn(process.execPath, ['--input-type=module', '-e', program, module, dir, TREE, when])
      let said = ''
      child.stdout.on('data', (chunk) => {
        said += String(chunk)
      })
      const timer = setTimeout(() => child.kill('SIGKILL'), 6 * STUCK_MS)
      await once(child, 'close')
      clearTimeout(timer)
      rmSync(dir, { recursive: true, force: true })
      expect(said).toBe('first 0\nsecond 0\n')
    },
  )
})

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
  })
})
