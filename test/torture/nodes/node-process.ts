import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { untilServed } from '../../until-served.js'

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
  const { program, stateDir, workspace, contract, host, store, clock } = options
  const places = ['--contract', contract, '--workspace', workspace, '--state-dir', stateDir]
  const preload = ['--import', new URL('skewed-clock.mjs', import.meta.url).href]
  const listening = ['--port', '0', '--host', host, ...(host === '127.0.0.1' ? [] : ['--insecure-http'])]
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
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const address = await untilServed(child, stateDir, () => output).catch((error: Error) => {
    if (child.exitCode === null && child.signalCode === null) throw error
    return null
  })
  if (address === null) return output
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
