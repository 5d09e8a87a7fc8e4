import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../find-free-port.js'
import { untilServed } from '../until-served.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Place {
  readonly dir: string
  readonly workspace: string
  readonly stateDir: string
  readonly port: number
  /** Another `phaselock` than that of this checkout. */
  readonly program?: string
  remove(): void
}

export interface Served {
  readonly child: ChildProcess
  readonly operator: string
  readonly output: () => string
  call(
    method: string,
    path: string,
    token: string | null,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }>
  /** Ends the process without a word, as the kernel would. */
  kill(): Promise<void>
  stop(): Promise<number | null>
}

export async function makePlace(): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-e2e-'))
  mkdirSync(join(dir, 'tree'))
  return {
    dir,
    workspace: join(dir, 'tree'),
    stateDir: join(dir, 'state'),
    port: await findFreePort(),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** Runs `bin/phaselock serve`: that process is the server itself. */
export async function serve(
  place: Place,
  contract: string,
  environment: NodeJS.ProcessEnv = {},
  more: readonly string[] = [],
): Promise<Served> {
  const args = [
    'serve',
    '--port',
    String(place.port),
    '--contract',
    contract,
    '--workspace',
    place.workspace,
    '--state-dir',
    place.stateDir,
    ...more,
  ]
  const child = spawn(place.program ?? join(ROOT, 'bin/phaselock'), args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: place.dir, ...environment },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  const base = await untilServed(child, place.stateDir, () => output)
  return {
    child,
    operator: readFileSync(join(place.stateDir, 'operator.token'), 'utf8').trim(),
    output: () => output,
    call: async (method, path, token, body, headers = {}) => {
      const response = await fetch(`${base}/api/v1${path}`, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return {
        status: response.status,
        body: (await response.json()) as Record<string, unknown>,
        headers: response.headers,
      }
    },
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
