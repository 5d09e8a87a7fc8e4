import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProviderName } from '../../confinement/confinement.js'
import { plainText } from '../../core/plain-text.js'
import { EXIT, Stop } from '../exit.js'
import { findProgramScript } from '../program-name.js'
import { Api } from './demo-api.js'
import { makeSample } from './demo-sample.js'

const READY_MS_MAX = 60_000
const STOP_MS_MAX = 15_000
const SAID_CHARS_MAX = 20_000
const READY = /^\{"event":"ready".*\}$/m

/** The sandbox that the server found. */
export interface FoundSandbox {
  readonly provider: string
  /** Guarantees that are not enforced here. */
  readonly missing: readonly string[]
}

/** The server's message when it is ready. */
interface Ready {
  readonly url: string
  readonly confinement: { readonly provider: string; readonly missing: readonly { readonly guarantee: string }[] }
}

interface StageOptions {
  readonly confinement?: ProviderName
  readonly signal: AbortSignal
}

/** A temporary folder with two repositories, and a separate server with its own state. */
export class Stage {
  readonly folder = makeFolder()
  readonly stateDir = join(this.folder, 'state')
  readonly #options: StageOptions
  readonly #children: ChildProcess[] = []
  readonly #onExit = (): void => this.#leave()
  #server: { readonly child: ChildProcess; readonly ended: Promise<void> } | null = null
  isKept = false

  constructor(options: StageOptions) {
    this.#options = options
    process.once('exit', this.#onExit)
  }

  getTree(agent: string): string {
    return join(this.folder, agent)
  }

  /** A process that ends with the demo. */
  own(child: ChildProcess): ChildProcess {
    this.#children.push(child)
    this.#options.signal.addEventListener('abort', () => child.kill('SIGKILL'), { once: true })
    return child
  }

  async open(agents: readonly string[]): Promise<{ readonly api: Api; readonly sandbox: FoundSandbox }> {
    for (const agent of agents) {
      mkdirSync(this.getTree(agent))
      makeSample(this.getTree(agent))
    }
    const ready = await this.#serve(this.getTree(agents[0] ?? ''))
    const operator = readFileSync(join(this.stateDir, 'operator.token'), 'utf8').trim()
    const { provider, missing } = ready.confinement
    return {
      api: new Api({ url: ready.url, operator, signal: this.#options.signal }),
      sandbox: { provider, missing: missing.map(({ guarantee }) => guarantee) },
    }
  }

  #serve(workspace: string): Promise<Ready> {
    const { confinement, signal } = this.#options
    const sandbox = confinement === undefined ? [] : ['--confinement', confinement]
    const places = ['--workspace', workspace, '--state-dir', this.stateDir]
    const args = ['serve', '--port', '0', '--json', '--contract', 'tdd', ...places, ...sandbox]
    const child = spawn(process.execPath, [findProgramScript(), ...args], {
      env: buildServerEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    this.#server = { child, ended }
    return new Promise((resolve, reject) => {
      let said = ''
      const fail = (why: string): void => reject(new Stop(EXIT.refused, `${why}\n${plainText(said).trimEnd()}`))
      const timer = setTimeout(() => fail(`The server is not ready after ${READY_MS_MAX / 1000} s.`), READY_MS_MAX)
      const hear = (chunk: Buffer): void => {
        said = `${said}${chunk.toString()}`.slice(-SAID_CHARS_MAX)
        const found = READY.exec(said)
        if (found === null) return
        clearTimeout(timer)
        resolve(JSON.parse(found[0]) as Ready)
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      child.once('error', reject)
      child.once('close', () => {
        clearTimeout(timer)
        fail('The server did not start:')
      })
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
  }

  /** Stops the server; afterwards the ledger is complete and closed. */
  async stopServer(): Promise<void> {
    if (this.#server === null) return
    const { child, ended } = this.#server
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
    await ended
    clearTimeout(timer)
    this.#server = null
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL')
    await this.stopServer()
    process.off('exit', this.#onExit)
    if (this.isKept) chmodSync(this.folder, 0o700)
    else this.#remove()
  }

  // Also cleans up when the user leaves early, by a second signal or a closed pipe.
  #leave(): void {
    process.exitCode = EXIT.interrupted
    for (const child of this.#children) child.kill('SIGKILL')
    this.#server?.child.kill('SIGKILL')
    this.#remove()
  }

  #remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

function makeFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-demo-')))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Stop(EXIT.refused, `The demo makes a folder in ${tmpdir()}, and cannot (${code}). Set TMPDIR to another.`)
  }
}

/** Settings for another server do not reach this one. */
export function buildServerEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PHASELOCK_|GIT_)/.test(name))
  return { ...Object.fromEntries(kept), PHASELOCK_EMBEDDINGS: 'none' }
}
