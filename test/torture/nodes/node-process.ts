import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

const READY_MS_MAX = 180_000
const STARTS_MAX = 20

export interface NodeProcess {
  readonly base: string
  readonly operator: string
  readonly output: () => string
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  kill(): Promise<void>
}

interface NodeOptions {
  readonly program: string
  readonly stateDir: string
  readonly workspace: string
  readonly contract: string
  readonly port: number
  readonly host: string
  /** Words before the command. */
  readonly enter: readonly string[]
  readonly store: string
  readonly clock: string
}

/** Starts a node; again while PostgreSQL is away, as a service manager would. */
export async function startNode(options: NodeOptions): Promise<NodeProcess> {
  let said = ''
  for (let starts = 0; starts < STARTS_MAX; starts += 1) {
    const started = await tryStart(options)
    if (typeof started !== 'string') return started
    said = started
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error(`the node did not start:\n${said}`)
}

async function tryStart(options: NodeOptions): Promise<NodeProcess | string> {
  const { program, stateDir, workspace, contract, host, port, store, clock } = options
  const places = ['--contract', contract, '--workspace', workspace, '--state-dir', stateDir]
  const preload = ['--import', new URL('skewed-clock.mjs', import.meta.url).href]
  const listening = ['--port', String(port), '--host', host, ...(host === '127.0.0.1' ? [] : ['--insecure-http'])]
  const [first = '', ...rest] = [...options.enter, process.execPath, ...preload, program, 'serve', ...listening]
  const child = spawn(first, [...rest, ...places], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ PATH: process.env.PATH, HOME: workspace, PHASELOCK_STORE: store },
      ORCHESTRATOR_JWT_SECRET: 'a secret of more than thirty-two bytes',
      PHASELOCK_TEST_CLOCK_FILE: clock,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const address = `http://${host}:${port}`
  const deadline = Date.now() + READY_MS_MAX
  while (!(await isReady(address))) {
    if (child.exitCode !== null || child.signalCode !== null) return output
    if (Date.now() > deadline) throw new Error(`the node is not ready:\n${output}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    base: `${address}/api/v1`,
    operator: readFileSync(join(stateDir, 'operator.token'), 'utf8').trim(),
    output: () => output,
    signal: (name) => {
      child.kill(name)
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function isReady(address: string): Promise<boolean> {
  try {
    return (await fetch(`${address}/ready`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}

// Below the ports that the kernel gives to connections.
const PORT_MIN = 10_000
const PORTS = 20_000

export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * PORTS)
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.on('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
