import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const SCRIPT = join(ROOT, 'bin', 'phaselock')

const BUILD_LOCK = join(ROOT, 'node_modules', '.phaselock-test-build')
const BUILD_MS_MAX = 180_000

/** Compiles the program when it is older than its source. Several test files may ask at once. */
export async function built(): Promise<void> {
  const deadline = Date.now() + BUILD_MS_MAX
  for (;;) {
    if (changedAt(join(ROOT, 'dist', 'program', 'main.js')) >= newestBelow(join(ROOT, 'src'))) return
    try {
      mkdirSync(BUILD_LOCK)
      break
    } catch {
      if (Date.now() > deadline) rmSync(BUILD_LOCK, { recursive: true, force: true })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  try {
    for (const step of [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], ['scripts/bundle.mjs']]) {
      const done = spawnSync(process.execPath, step, { cwd: ROOT, encoding: 'utf8' })
      if (done.status !== 0) throw new Error(`the build failed:\n${done.stdout}${done.stderr}`)
    }
  } finally {
    rmSync(BUILD_LOCK, { recursive: true, force: true })
  }
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newestBelow(dir: string): number {
  const inside = readdirSync(dir, { withFileTypes: true }).map((entry) =>
    entry.isDirectory() ? newestBelow(join(dir, entry.name)) : changedAt(join(dir, entry.name)),
  )
  return Math.max(...inside)
}

/** What a command or the API answered; tests say what they expect in it. */
export type Answer = Record<string, unknown>

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Server {
  readonly url: string
  readonly pid: number
  readonly stateDir: string
  readonly output: () => string
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<number | null>
}

/** A home of its own with a work tree: nothing of the machine's own settings gets in, and nothing gets out. */
export class Place {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-cli-')))
  readonly work = join(this.home, 'work')
  readonly #servers: Server[] = []

  /** `atEnd` says when the servers are stopped: after the file, or after one test. */
  constructor(atEnd: (close: () => Promise<void>) => void = afterAll) {
    mkdirSync(this.work)
    atEnd(() => this.close())
  }

  get environment(): NodeJS.ProcessEnv {
    const { PATH = '' } = process.env
    return {
      PATH,
      HOME: this.home,
      XDG_STATE_HOME: join(this.home, 'state'),
      XDG_DATA_HOME: join(this.home, 'data'),
    }
  }

  /** Runs a command to its end. */
  run(
    args: readonly string[],
    options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
  ): Promise<Ended> {
    return this.node([SCRIPT, ...args], options)
  }

  node(
    args: readonly string[],
    options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
  ): Promise<Ended> {
    const child = spawn(process.execPath, args, {
      cwd: options.cwd ?? this.work,
      env: { ...this.environment, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
  }

  /** Runs a command with --json and gives what it printed. */
  async json(args: readonly string[]): Promise<Answer> {
    const ended = await this.run([...args, '--json'])
    if (ended.code !== 0) throw new Error(`${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`)
    return JSON.parse(ended.stdout)
  }

  /** Starts a server on a free port and waits until it is ready. */
  async serve(args: readonly string[] = [], script: readonly string[] = [SCRIPT, 'serve']): Promise<Server> {
    const child = spawn(process.execPath, [...script, '--port', '0', '--json', ...args], {
      cwd: this.work,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    const line = await new Promise<string>((resolve, reject) => {
      child.stderr.on('data', (chunk) => (output += chunk))
      child.stdout.on('data', (chunk) => {
        output += chunk
        const found = /^\{"event":"ready".*\}$/m.exec(output)
        if (found !== null) resolve(found[0])
      })
      child.once('close', (code) => reject(new Error(`serve ended with ${code}: ${output}`)))
    })
    const ready = JSON.parse(line)
    const server: Server = {
      url: ready.url,
      pid: ready.pid,
      stateDir: ready.state_dir,
      output: () => output,
      kill: (signal) => child.kill(signal),
      ended,
    }
    this.#servers.push(server)
    return server
  }

  async close(): Promise<void> {
    for (const server of this.#servers) server.kill('SIGKILL')
    await Promise.all(this.#servers.map((server) => server.ended))
    rmSync(this.home, { recursive: true, force: true })
  }
}
