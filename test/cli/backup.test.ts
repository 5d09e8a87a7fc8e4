import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { built, Place, SCRIPT, type Server } from './program.js'

const place = new Place()
beforeAll(built, 200_000)

/** Adds tasks from several clients until it is stopped; gives the ids that were acknowledged. */
function load(server: Server) {
  const token = readFileSync(join(server.stateDir, 'operator.token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const added: string[] = []
  let isRunning = true
  const clients = Array.from({ length: 4 }, async (_, client) => {
    for (let i = 0; isRunning; i += 1) {
      const id = `load-${client}-${i}`
      const body = JSON.stringify({ title: id, id })
      const answer = await fetch(`${server.url}/api/v1/tasks`, { method: 'POST', headers, body }).catch(() => null)
      if (answer?.status === 201) added.push(id)
      else if (answer === null) return
    }
  })
  const stop = async () => {
    isRunning = false
    await Promise.all(clients)
  }
  return { added, stop }
}

/** Runs a command and kills it as soon as a file that begins so is in the folder. False: it ended before. */
async function killWhile(args: readonly string[], folder: string, start: string): Promise<boolean> {
  const child = spawn(process.execPath, [SCRIPT, ...args], { cwd: place.work, env: place.environment, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  while (!isOver && !readdirSync(folder).some((name) => name.startsWith(start))) await sleep(1)
  const wasKilled = child.kill('SIGKILL')
  await ended
  return wasKilled
}

describe('[REQ-KEEP-6] backup and restore on the command line', () => {
  it('a backup under load, restored elsewhere, verifies and has every task that was acknowledged before it', async () => {
    const server = await place.serve()
    const busy = load(server)
    while (busy.added.length < 200) await sleep(10)
    const before = [...busy.added]
    const file = join(place.home, 'one.backup')
    const made = await place.json(['backup', '--to', file, '--with-keys'])
    expect(busy.added.length).toBeGreaterThan(before.length)
    expect(statSync(file).mode & 0o777).toBe(0o600)

    const killed = await killWhile(['backup', '--to', join(place.home, 'two.backup')], place.home, '.two.backup')
    expect(existsSync(join(place.home, 'two.backup'))).toBe(!killed)
    server.kill('SIGKILL')
    await busy.stop()
    await server.ended

    const to = join(place.home, 'restored')
    if (await killWhile(['restore', file, '--state-dir', to], place.home, '.restored.'))
      expect(existsSync(to)).toBe(false)
    const restored = existsSync(to) ? null : await place.json(['restore', file, '--state-dir', to])
    if (restored !== null)
      expect(restored).toMatchObject({ state_dir: to, events: (made.head as { count: number }).count })
    expect(readdirSync(place.home).filter((name) => name.startsWith('.restored'))).toEqual([])
    const verified = await place.run(['audit', 'verify', '--state-dir', to])
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('The ledger is intact') })

    const second = await place.serve(['--state-dir', to])
    const token = readFileSync(join(to, 'operator.token'), 'utf8').trim()
    const headers = { authorization: `Bearer ${token}` }
    for (const id of [before[0], before.at(-1)]) {
      const answer = await fetch(`${second.url}/api/v1/tasks/${id}`, { headers })
      expect(answer.status).toBe(200)
    }
    const found = await fetch(`${second.url}/api/v1/audit/query?type=ledger_restored`, { headers })
    expect(await found.json()).toMatchObject({ events: [{ actor: 'operator:admin', data: { backup: made.sha256 } }] })
    const refused = await place.run(['restore', file, '--state-dir', to])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Another server') })
    // The server that was killed goes on with its own directory.
    const first = await place.serve()
    expect((await place.run(['audit', 'verify'])).code).toBe(0)
    first.kill('SIGTERM')
    await first.ended
  }, 120_000)

  it('wrong usage and bad files end with one line and a code, and write nothing', async () => {
    const file = join(place.home, 'one.backup')
    const broken = join(place.home, 'broken.backup')
    const bytes = readFileSync(file)
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1
    writeFileSync(broken, bytes)
    writeFileSync(join(place.home, 'short'), 'too short\n')
    const to = join(place.home, 'never')
    const before = readdirSync(place.home)
    const cases: readonly (readonly [readonly string[], number, string])[] = [
      [['restore', broken, '--state-dir', to], 1, 'It was changed'],
      [['restore', file], 2, '--state-dir DIR'],
      [['restore', join(place.home, 'none'), '--state-dir', to], 2, 'There is no file'],
      [['restore', file, '--state-dir', to, '--public-key', file], 2, 'not a readable public key'],
      [['backup', '--to', file], 1, 'exists'],
      [['backup', '--to', join(place.work, 'in-tree.backup')], 1, 'inside the work tree'],
      [['backup', '--to', join(place.home, 'no', 'folder.backup')], 1, 'cannot be used'],
      [['backup', '--with-keys', '--encrypt-keys'], 2, 'not both'],
      [['backup', '--encrypt-keys'], 2, '--passphrase-file'],
      [['backup', '--passphrase-file', join(place.home, 'short')], 2, 'at least 12'],
      [['backup', '--state-dir', place.work], 1, 'no ledger'],
    ]
    const ended = await Promise.all(cases.map(([args]) => place.run(args)))
    for (const [index, [args, code, said]] of cases.entries())
      expect([args, ended[index]?.code, ended[index]?.stderr]).toEqual([args, code, expect.stringContaining(said)])
    expect(readdirSync(place.home)).toEqual(before)
    expect(readdirSync(place.work)).toEqual([])
  }, 60_000)
})
