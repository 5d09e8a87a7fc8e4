import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ROOT } from './disk/place.js'

const READY_MS_MAX = 180_000
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

/** Runs the real `bin/phaselock serve` on the directory. */
export async function startServer(options: {
  readonly stateDir: string
  readonly workspace: string
  readonly contract: string
  readonly port: number
  readonly env?: Record<string, string>
}): Promise<Server> {
  const { stateDir, port } = options
  const args = ['--port', String(port), '--contract', options.contract, '--workspace', options.workspace]
  const child = spawn(process.execPath, [PROGRAM, 'serve', ...args, '--state-dir', stateDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: options.workspace, ...options.env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)))
  const base = `http://127.0.0.1:${port}`
  await untilReady(base, child, () => output)
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

async function untilReady(base: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX
  for (;;) {
    try {
      if ((await fetch(`${base}/ready`)).ok) return
    } catch {
      // Nobody listens yet.
    }
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the server did not start:\n${output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
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

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
