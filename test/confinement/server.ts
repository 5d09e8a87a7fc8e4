import { type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { type Account, belongingTo, SYSTEM_PATH } from './account.js'
import type { Program } from './program.js'

const READY_MS_MAX = 180_000
/** Descriptors that whoever starts the server left open. */
export const LEFT_OPEN = [3, 7, 50]

export interface Started {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly output: () => string
  /** Ends it as the kernel would. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface StartOptions {
  readonly provider: string
  readonly account: Account
  readonly contract: string
  readonly tree: string
  readonly stateDir: string
  readonly home: string
  /** A file that stays open in the server's process. */
  readonly descriptor: string
  readonly environment: Readonly<Record<string, string>>
  readonly wrap: (words: readonly string[]) => readonly string[]
}

/** Runs `bin/phaselock serve` and waits until it is ready. */
export async function startServer(program: Program, options: StartOptions): Promise<Started> {
  const { contract, tree, stateDir, provider, account } = options
  const [command = '', ...args] = options.wrap([
    ...[program.node, program.script, 'serve', '--port', '0', '--json', '--contract', contract],
    ...['--workspace', tree, '--state-dir', stateDir, '--confinement', provider],
  ])
  const fd = openSync(options.descriptor, 'r')
  const stdio: StdioOptions = Array.from({ length: Math.max(...LEFT_OPEN) + 1 }, (_, at) =>
    at === 1 || at === 2 ? 'pipe' : LEFT_OPEN.includes(at) ? fd : 'ignore',
  )
  const child = spawn(command, args, {
    ...belongingTo(account),
    cwd: tree,
    env: { PATH: SYSTEM_PATH, HOME: options.home, ...options.environment },
    stdio,
    // A group of its own: what a command does to its group must not end the tests.
    detached: true,
  })
  closeSync(fd)
  let output = ''
  for (const stream of [child.stdout, child.stderr] as Readable[])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8')
    })
  let hasClosed = false
  const closed = once(child, 'close').then(() => {
    hasClosed = true
  })
  const ready = await readyLine(
    () => output,
    () => hasClosed,
  ).catch(async (error: unknown) => {
    // Its own group, made above: whatever wraps the server goes with it, and nothing else does.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGKILL')
      await closed
    }
    throw error
  })
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) process.kill(ready.pid, signal)
    await closed
  }
  return {
    ...ready,
    output: () => output,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

async function readyLine(
  output: () => string,
  hasClosed: () => boolean,
): Promise<{ url: string; port: number; pid: number }> {
  const deadline = Date.now() + READY_MS_MAX
  for (;;) {
    const found = /^\{"event":"ready".*\}/m.exec(output())
    if (found !== null) {
      const { url, pid, confinement } = JSON.parse(found[0]) as {
        url: string
        pid: number
        confinement: { missing: unknown[] }
      }
      if (confinement.missing.length > 0) throw new Error(`the wall is not there: ${JSON.stringify(confinement)}`)
      return { url, pid, port: Number(new URL(url).port) }
    }
    if (hasClosed() || Date.now() > deadline) throw new Error(`the server did not start: ${output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
