import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PRELOAD = fileURLToPath(new URL('end-at-step.cjs', import.meta.url))
const READY_MS_MAX = 120_000

export interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

export interface Call {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly token: string
  readonly body?: unknown
  readonly key?: string
}

/** A real server that ends at a step of its work, and is started again on the same state and port. */
export class EndingServer {
  readonly dir = mkdtempSync(join(tmpdir(), 'phaselock-whole-'))
  readonly workspace = join(this.dir, 'tree')
  readonly stateDir = join(this.dir, 'state')
  readonly #orders = join(this.dir, 'orders')
  #child: ChildProcess | null = null
  #ended: Promise<unknown> = Promise.resolve()
  #base = ''
  #orderId = 0
  output = ''

  constructor(
    private readonly contract: string,
    private readonly options: { readonly environment?: NodeJS.ProcessEnv; readonly words?: readonly string[] } = {},
  ) {
    mkdirSync(this.workspace)
  }

  async start(): Promise<void> {
    const contract = join(this.dir, 'contract.yaml')
    writeFileSync(contract, this.contract)
    this.#order({ thread: 'none', endAt: 0 })
    const words = ['--port', '0', '--contract', contract, '--workspace', this.workspace, '--state-dir', this.stateDir]
    const child = spawn(
      process.execPath,
      [join(ROOT, 'bin/phaselock'), 'serve', ...words, ...(this.options.words ?? [])],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env.PATH,
          HOME: this.dir,
          NODE_OPTIONS: `--require=${PRELOAD}`,
          PHASELOCK_STEPS: this.#orders,
          ...this.options.environment,
        },
      },
    )
    this.output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (this.output += String(chunk)))
    this.#child = child
    this.#ended = new Promise((resolve) => child.on('close', resolve))
    const port = await this.#readPort(child)
    this.#base = `http://127.0.0.1:${port}`
    await this.#waitUntilReady(child)
  }

  get operator(): string {
    return readFileSync(join(this.stateDir, 'operator.token'), 'utf8').trim()
  }

  get isAlive(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The server ends right before the n-th step of this thread from now on. */
  endAt(thread: 'main' | 'worker', step: number): void {
    rmSync(`${this.#orders}.ended`, { force: true })
    this.#order({ thread, endAt: step })
  }

  /** The server ends right before the n-th step of its main thread in the function of this name. */
  endWithin(name: string, step = 1): void {
    rmSync(`${this.#orders}.ended`, { force: true })
    this.#order({ thread: 'main', endAt: step, within: name })
  }

  /** Goes on without an end. */
  goOn(): void {
    this.#order({ thread: 'none', endAt: 0 })
  }

  /** The step at which it ended; null: it did not. */
  readEnd(): string | null {
    const file = `${this.#orders}.ended`
    return existsSync(file) ? readFileSync(file, 'utf8') : null
  }

  async waitForEnd(): Promise<void> {
    await this.#ended
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM')
    await this.#ended
  }

  /** Null: the connection broke before the answer was complete. */
  async ask(call: Call): Promise<Answer | null> {
    try {
      return await this.call(call)
    } catch {
      return null
    }
  }

  async call({ method = 'POST', path, token, body, key }: Call): Promise<Answer> {
    const response = await fetch(`${this.#base}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.dir, { recursive: true, force: true })
  }

  #order(order: { readonly thread: string; readonly endAt: number; readonly within?: string }): void {
    this.#orderId += 1
    writeFileSync(this.#orders, JSON.stringify({ id: this.#orderId, ...order }))
  }

  #readPort(child: ChildProcess): Promise<number> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = /http:\/\/localhost:(\d+)/.exec(this.output)
        if (found !== null) resolve(Number(found[1]))
      }
      child.stdout?.on('data', look)
      child.on('close', () => reject(new Error(`the server did not start:\n${this.output}`)))
    })
  }

  async #waitUntilReady(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + READY_MS_MAX
    for (;;) {
      const isReady = await fetch(`${this.#base}/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isReady) return
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`not ready:\n${this.output}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
