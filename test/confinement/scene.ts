import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { lchownSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type Account, belongingTo } from './account.js'
import type { Places } from './stage.js'

/** Things around the wall for commands to reach for. */
export interface Scene {
  /** A file of the account, readable by it alone, beside the work tree. */
  readonly beside: string
  readonly ports: { readonly four: number; readonly six: number; readonly udp: number }
  /** An address of the machine that is not the loopback. */
  readonly address: string
  readonly abstractName: string
  readonly sockets: { readonly beside: string; readonly inTree: string; readonly inGit: string }
  /** How many connections and datagrams arrived. */
  readonly arrived: () => number
  /** A process of the account that does no harm. */
  victim(): Victim
  close(): void
}

export interface Victim {
  readonly pid: number
  readonly mark: string
  isAlive(): boolean
}

export async function setScene(places: Places, account: Account): Promise<Scene> {
  const own = (path: string): string => {
    lchownSync(path, account.uid, account.gid)
    return path
  }
  const makeFolder = (path: string): string => {
    mkdirSync(path)
    return own(path)
  }
  const file = (path: string, content: string, mode = 0o600): string => {
    writeFileSync(path, content, { mode })
    return own(path)
  }
  const { dir, tree, home } = places
  const beside = file(join(dir, 'beside.txt'), 'not for agents\n')
  for (const folder of ['.ssh', '.aws', '.config']) makeFolder(join(home, folder))
  file(join(home, '.ssh', 'id_ed25519'), 'a key\n')
  file(join(home, '.aws', 'credentials'), 'a key\n')
  file(join(home, 'sentinel.txt'), 'not for agents\n')
  for (const folder of ['src', 'tests', '.git']) makeFolder(join(tree, folder))
  file(join(tree, 'src', 'main.txt'), 'as it was\n', 0o644)
  for (const [name, target] of [
    ['leading-out', beside],
    ['folder-leading-out', dir],
  ] as const) {
    symlinkSync(target, join(tree, name))
    own(join(tree, name))
  }
  const abstractName = `phaselock-wall-${randomBytes(8).toString('hex')}`
  const sockets = {
    beside: join(dir, 's.sock'),
    inTree: join(tree, 'tests', 's.sock'),
    inGit: join(tree, '.git', 's.sock'),
  }
  let arrived = 0
  const servers: Server[] = []
  const listening = async (where: { port: number; host: string } | { path: string }): Promise<number> => {
    const server = createServer((socket) => {
      arrived += 1
      socket.on('error', () => undefined)
      socket.destroy()
    })
    servers.push(server)
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(where, resolve))
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }
  const four = await listening({ port: 0, host: '0.0.0.0' })
  const six = await listening({ port: 0, host: '::1' })
  await listening({ path: `\0${abstractName}` })
  for (const path of Object.values(sockets)) {
    await listening({ path })
    own(path)
  }
  const udp = createSocket('udp4', () => {
    arrived += 1
  })
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
  const victims: Victim[] = []
  return {
    beside,
    ports: { four, six, udp: udp.address().port },
    address: outerAddress(),
    abstractName,
    sockets,
    arrived: () => arrived,
    victim: () => {
      const one = newVictim(account)
      victims.push(one)
      return one
    },
    close: () => {
      for (const server of servers) server.close()
      udp.close()
      for (const { pid, isAlive } of victims) if (isAlive()) process.kill(pid, 'SIGKILL')
    },
  }
}

function outerAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  return all.find((one) => !one.internal && one.family === 'IPv4')?.address ?? '127.0.0.2'
}

function newVictim(account: Account): Victim {
  const mark = newMark()
  const child = spawn('bash', ['-c', `exec -a ${mark} sleep 600`], {
    ...belongingTo(account),
    stdio: 'ignore',
    detached: true,
  })
  return { pid: child.pid ?? 0, mark, isAlive: () => child.exitCode === null && child.signalCode === null }
}

/** A word that stands in no command line by chance. */
export function newMark(): string {
  return `wall-mark-${randomBytes(8).toString('hex')}`
}

export interface Seen {
  readonly pid: number
  /** Real, effective, saved and file system uid. */
  readonly uids: readonly number[]
}

/** The processes of the machine that carry the mark as a word of their own, as the machine sees them; `at`: only those that work there. */
export function processesWith(mark: string, at: string | null = null): readonly Seen[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(mark)) return []
        if (at !== null && readlinkSync(`/proc/${pid}/cwd`) !== at) return []
        const uids = /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''
        return [{ pid: Number(pid), uids: uids.split(/\s+/).map(Number) }]
      } catch {
        // It ended while it was looked at.
        return []
      }
    })
}

/** True as soon as the condition holds; false when it does not within the time. */
export async function within(ms: number, condition: () => boolean): Promise<boolean> {
  const deadline = Date.now() + ms
  while (!condition()) {
    if (Date.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}
