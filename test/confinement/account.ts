import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'

/** Nobody's number: no system hands it out by itself. */
const MADE_UP_ID = 64_321

/** Who runs the server, and, for comparison, the same attempt outside of the wall. */
export interface Account {
  readonly name: 'root' | 'user'
  readonly uid: number
  readonly gid: number
}

/** Tests that run as root try both kinds of server; others can only try their own. */
export function accounts(): readonly Account[] {
  const uid = process.getuid?.() ?? 0
  const user = { name: 'user', uid: MADE_UP_ID, gid: MADE_UP_ID } as const
  if (uid === 0) return [{ name: 'root', uid: 0, gid: 0 }, user]
  return [{ ...user, uid, gid: process.getgid?.() ?? uid }]
}

/** Options that make a child process belong to the account. */
export function belongingTo(account: Account): Pick<SpawnOptions, 'uid' | 'gid'> {
  return account.uid === process.getuid?.() ? {} : { uid: account.uid, gid: account.gid }
}

export interface Plain {
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface PlainOptions {
  readonly account: Account
  readonly cwd: string
  readonly env?: Record<string, string>
  /** Program and arguments that run the shell, such as one that makes namespaces first. */
  readonly under?: readonly string[]
}

/** Runs a line of bash without any wall. */
export async function plainly(line: string, options: PlainOptions): Promise<Plain> {
  const [program = 'bash', ...args] = [...(options.under ?? []), 'bash', '-c', line]
  const child = spawn(program, args, {
    ...belongingTo(options.account),
    cwd: options.cwd,
    env: { PATH: SYSTEM_PATH, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stdout = collected(child.stdout as Readable)
  const stderr = collected(child.stderr as Readable)
  const [exit] = (await once(child, 'close')) as [number | null]
  return { exit, stdout: stdout(), stderr: stderr() }
}

export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

function collected(stream: Readable): () => string {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('utf8')
}

/** A word that a shell takes literally. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
