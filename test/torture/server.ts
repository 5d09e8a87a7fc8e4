import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { untilServed } from '../until-served.js'
import { ROOT } from './disk/place.js'

/** Another build can be tortured too. */
const PROGRAM = process.env.PHASELOCK_TORTURE_PROGRAM ?? join(ROOT, 'bin/phaselock')

export interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

export interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly token: string
  readonly body?: Record<string, unknown>
  readonly key?: string
}

export interface Server {
  readonly base: string
  readonly operator: string
  readonly output: () => string
  /** Ends the process as the kernel would. */
  kill(): Promise<void>
  stop(): Promise<number | null>
}

/** Runs the real `bin/phaselock serve` on the directory, at a port that it chooses. */
export async function startServer(options: {
  readonly stateDir: string
  readonly workspace: string
  readonly contract: string
  readonly env?: Record<string, string>
}): Promise<Server> {
  const { stateDir } = options
  const args = ['--port', '0', '--contract', options.contract, '--workspace', options.workspace]
  const child = spawn(process.execPath, [PROGRAM, 'serve', ...args, '--state-dir', stateDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: options.workspace, ...options.env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  const base = await untilServed(child, stateDir, () => output)
  return {
    base: `${base}/api/v1`,
    operator: readFileSync(join(stateDir, 'operator.token'), 'utf8').trim(),
    output: () => output,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    stop: async () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** One call; rejects when the connection breaks before the answer is complete. */
export async function ask(base: string, request: Request): Promise<Answer> {
  const response = await fetch(`${base}${request.path}`, {
    method: request.method,
    headers: {
      authorization: `Bearer ${request.token}`,
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(request.key === undefined ? {} : { 'idempotency-key': request.key }),
    },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
