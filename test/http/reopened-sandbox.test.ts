import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { removedAtExit } from '../leaving.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: small
version: "1"
phases:
  - {id: A, allowed_tools: [read_files, write_files, bash]}
  - {id: B, allowed_tools: []}
enforcement: {reconcile: off}
`
const WAIT = { timeout: 60_000, interval: 20 }

/** Processes that make the mounts: children of this one in other mount namespaces. */
function listKeepers(): readonly number[] {
  const own = readlinkSync('/proc/self/ns/mnt')
  const isKeeper = (pid: string): boolean => {
    try {
      const isChild = readFileSync(`/proc/${pid}/status`, 'utf8').includes(`\nPPid:\t${process.pid}\n`)
      const isShell = readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'sh'
      return isChild && isShell && readlinkSync(`/proc/${pid}/ns/mnt`) !== own
    } catch {
      // Ended meanwhile.
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isKeeper(name))
    .map(Number)
}

describe('a server whose sandbox process is killed', () => {
  const stateDir = removedAtExit(mkdtempSync(join(tmpdir(), 'phaselock-reopened-')))
  let run: Running
  let token = ''
  // Those of test files that ran in this process before.
  const others = new Set(listKeepers())
  beforeAll(async () => {
    const wall = await openConfinement({ stateDir, only: null })
    run = await start({ contract: CONTRACT, confinement: async () => wall })
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(async () => {
    const wall = await run.app.confinement()
    await run.stop()
    await wall.close()
  })

  const bash = (command: string) =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'bash', args: { command } })
  const ready = async () => (await run.call('GET', '/ready', null)).body.status
  const kill = () => {
    const keepers = listKeepers().filter((pid) => !others.has(pid))
    expect(keepers.length).toBe(1)
    for (const pid of keepers) process.kill(pid, 'SIGKILL')
  }

  it('[REQ-CALLOFF-3] refuses commands with the right remedy and is not ready while no other can be started', async ({
    skip,
  }) => {
    if ((await run.app.confinement()).provider === 'none') return skip('there is no sandbox here')
    expect((await bash('echo one > one.txt')).status).toBe(200)
    expect(await ready()).toBe('ready')
    kill()
    // A file in the place of its folder: the next one cannot be started.
    const folder = join(stateDir, 'confinement')
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')
    await expect.poll(ready, WAIT).toBe('sandbox_unavailable')
    const refused = await bash('echo two > two.txt')
    expect(refused).toMatchObject({ status: 400, body: { code: 'sandbox_unavailable' } })
    expect(refused.body.detail).toMatch(/could not be started again/)
    expect(refused.body.remedy).toMatch(/^Call the tool again in a few seconds/)
    expect(existsSync(join(run.workspace, 'two.txt'))).toBe(false)
    rmSync(folder)
    await expect.poll(ready, WAIT).toBe('ready')
    expect((await bash('echo two > two.txt')).status).toBe(200)
    expect(readFileSync(join(run.workspace, 'two.txt'), 'utf8')).toBe('two\n')
  })

  it('[REQ-CALLOFF-3] keeps nothing of a command that ran meanwhile, and runs the next one by itself', async ({
    skip,
  }) => {
    if ((await run.app.confinement()).provider === 'none') return skip('there is no sandbox here')
    const started = bash('echo late > late.txt; sleep 2')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    kill()
    expect(await started).toMatchObject({ status: 400, body: { code: 'sandbox_unavailable' } })
    expect(existsSync(join(run.workspace, 'late.txt'))).toBe(false)
    expect(await bash('echo three > three.txt')).toMatchObject({ status: 200 })
    expect(readFileSync(join(run.workspace, 'three.txt'), 'utf8')).toBe('three\n')
    expect(await ready()).toBe('ready')
    expect(run.faults).toEqual([])
  })
})
