import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildIdMap, type Identity } from './identity.js'

const ERROR_CHARS_MAX = 2000
const ANSWER_MS_MAX = 20_000
const LINGER_MS = 500

/**
 * A shell in separate namespaces that makes the mounts for commands. Its mounts are invisible elsewhere and disappear
 * when it ends, which it does when the server ends, in whatever way.
 */
export class Keeper {
  readonly #child: ChildProcess
  /** Resolves when its process has ended. */
  readonly ended: Promise<void>
  /** The folder that mounts are made in, as the keeper sees it. */
  readonly dir: string
  /** The same folder, as the server reaches it. */
  readonly seen: string
  #answers = ''
  #errors = ''
  #queue: Promise<unknown> = Promise.resolve()
  #count = 0
  #wake: () => void = () => undefined
  #isReadWhole = false

  private constructor(child: ChildProcess, dir: string) {
    this.#child = child
    this.dir = dir
    this.seen = `/proc/${child.pid}/root${dir}`
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#answers += chunk.toString('utf8')
      this.#wake()
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString('utf8')).slice(-ERROR_CHARS_MAX)
    })
    this.ended = new Promise((resolve) => {
      child.once('exit', () => {
        resolve()
        // Its last lines may come after its end; what it started may keep its output open.
        setTimeout(() => this.#stopReading(), LINGER_MS).unref()
      })
    })
    child.once('close', () => this.#stopReading())
    // A write to an ended keeper is noticed by the caller that waits for its answer.
    child.stdin?.on('error', () => undefined)
  }

  static async open(stateDir: string, identity: Identity): Promise<Keeper> {
    const dir = join(stateDir, 'confinement')
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const child = identity.kind === 'user' ? startAsUser() : await startAsRoot(identity)
    const keeper = new Keeper(child, dir)
    await keeper.ask('true')
    return keeper
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Runs shell lines in the namespaces, one request after the other. Throws their output when they fail. */
  async ask(script: string): Promise<void> {
    const before = this.#queue
    const mine = (async () => {
      await before.catch(() => undefined)
      await this.#exchange(script)
    })()
    this.#queue = mine
    return mine
  }

  async close(): Promise<void> {
    this.#child.stdin?.end()
    this.#child.kill('SIGKILL')
    if (this.isAlive) await this.ended
  }

  async #exchange(script: string): Promise<void> {
    if (!this.isAlive) throw new Error('the confinement has ended')
    this.#count += 1
    const mark = `phaselock-${this.#count}`
    this.#answers = ''
    this.#errors = ''
    this.#child.stdin?.write(`(${script}\n)\necho "${mark} $?"\n`)
    const status = await this.#answer(new RegExp(`^${mark} (\\d+)$`, 'm'))
    if (status !== '0') throw new Error(this.#errors.trim() || `the confinement's shell answered ${status}`)
  }

  #stopReading(): void {
    this.#isReadWhole = true
    this.#wake()
  }

  #answer(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the confinement does not answer')), ANSWER_MS_MAX)
      this.#wake = () => {
        const found = pattern.exec(this.#answers)
        if (found === null && !this.#isReadWhole) return
        clearTimeout(timer)
        if (found?.[1] !== undefined) resolve(found[1])
        else reject(new Error(this.#errors.trim() || 'the confinement has ended'))
      }
      this.#wake()
    })
  }
}

const CLEAN = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

function startAsUser(): ChildProcess {
  return spawnShell('unshare', ['--user', '--map-root-user', '--mount', '--propagation', 'private', 'sh'])
}

// The id map of a namespace made by root can only be written from outside it, so it is made first and entered afterwards.
async function startAsRoot(identity: Extract<Identity, { kind: 'root' }>): Promise<ChildProcess> {
  const maker = spawnShell('unshare', ['--user', 'sh', '-c', 'echo made; read _'])
  try {
    const [said] = (await Promise.race([
      once(maker.stdout as NodeJS.ReadableStream, 'data'),
      once(maker, 'exit').then(() => ['']),
    ])) as [Buffer | string]
    if (!String(said).includes('made')) throw new Error('user namespaces cannot be created here')
    const map = buildIdMap(identity)
    writeFileSync(`/proc/${maker.pid}/uid_map`, map)
    writeFileSync(`/proc/${maker.pid}/gid_map`, map)
    const enter = ['--user', '--target', String(maker.pid), '--setuid', '0', '--setgid', '0', '--']
    const child = spawnShell('nsenter', [
      ...enter,
      // Real root has a name in these namespaces: without this, a setuid program could become root.
      ...['setpriv', '--no-new-privs', 'unshare', '--mount', '--propagation', 'private', 'sh'],
    ])
    child.stdin?.write('echo here\n')
    await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')])
    return child
  } finally {
    maker.kill('SIGKILL')
  }
}

function spawnShell(program: string, args: readonly string[]): ChildProcess {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: CLEAN, cwd: '/' })
  child.on('error', () => undefined)
  return child
}

/** A word that a shell takes literally. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
