import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { quoteWord } from './keeper.js'
import {
  ENVIRONMENT_FD,
  encodeEnvironment,
  GO_FD,
  INFO_FD,
  LAUNCHER_ENVIRONMENT,
  OBSERVED_FILTER_FD,
} from './launch.js'
import type { Group, Groups, Limits } from './limits.js'

const PREPARE_LATER_MS = 5

/** Files of the seccomp filters: for commands of agents, and for observed runs. */
export interface Filters {
  readonly agent: string
  readonly observed: string
}

/** The parts of every starter of a server. */
interface StarterParts {
  readonly dir: string
  /** Files of the seccomp filters; null when none is used. */
  readonly filters: Filters | null
  readonly groups: Groups | null
  readonly limits: Limits
}

// Over all sandboxes of the process: one that is opened again must not use the groups of the one before.
let made = 0

/**
 * Shells that wait to become a command. Creating a process and moving it into its control group takes longer than
 * everything else about a small command, and can be done in advance.
 */
export class Starters {
  #ready: Promise<Starter> | null = null
  #isClosed = false
  readonly #covered: readonly (number | 'ignore')[]

  constructor(private readonly parts: StarterParts) {
    sweep(parts.dir)
    this.#covered = coverForeign()
  }

  async take(): Promise<Starter> {
    const ready = this.#ready ?? this.#make()
    this.#ready = null
    const starter = await ready
    // A shell that died while waiting cannot be used.
    const alive = starter.isAlive ? starter : await this.#make()
    // Moving a process between control groups blocks every fork on the machine: do not do it while this command starts.
    alive.child.once('close', () => setTimeout(() => this.#prepare(), PREPARE_LATER_MS).unref())
    return alive
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const starter = await this.#ready?.catch(() => null)
    starter?.discard()
  }

  #prepare(): void {
    if (this.#isClosed || this.#ready !== null) return
    const made = this.#make()
    this.#ready = made
    made.catch(() => {
      if (this.#ready === made) this.#ready = null
    })
  }

  async #make(): Promise<Starter> {
    made += 1
    const { groups, limits, dir } = this.parts
    const name = `${process.pid}-${made}`
    const group = groups?.make(`phaselock-${name}`, limits) ?? null
    const starter = new Starter(this.#spawn(join(dir, `start-${name}`)), join(dir, `start-${name}`), group)
    await starter.join()
    if (this.#isClosed) starter.discard()
    return starter
  }

  #spawn(script: string): ChildProcess {
    const { filters } = this.parts
    const opened = filters === null ? [] : [openSync(filters.agent, 'r'), openSync(filters.observed, 'r')]
    const [agent = 'ignore', observed = 'ignore'] = opened
    const waits = `read _ <&${GO_FD} || exit 1; . ${quoteWord(script)}`
    const own: StdioOptions = ['pipe', 'pipe', 'pipe', agent, 'pipe', 'pipe', 'pipe', observed]
    const stdio = [...own, ...this.#covered]
    try {
      // A separate session: a process in the server's process group could signal it from any namespace, and has its
      // terminal.
      return spawn('/bin/sh', ['-c', waits], { stdio, env: LAUNCHER_ENVIRONMENT, cwd: '/', detached: true })
    } finally {
      for (const fd of opened) closeSync(fd)
    }
  }
}

const INFO_CHARS_MAX = 4096

/** How long we wait for a launcher that is being ended to report the first process of its command. */
const TOLD_MS_MAX = 5000

export class Starter {
  #info = ''
  #tells = false
  #isEnding = false
  readonly #endLauncher: (signal?: NodeJS.Signals | number) => boolean

  constructor(
    readonly child: ChildProcess,
    private readonly script: string,
    private readonly group: Group | null,
  ) {
    child.on('error', () => undefined)
    this.#endLauncher = child.kill.bind(child)
    child.kill = () => this.#kill()
    const info = (child.stdio as readonly (Readable | Writable | null | undefined)[])[INFO_FD]
    info?.on('data', (chunk: Buffer) => {
      this.#info = (this.#info + chunk.toString('utf8')).slice(0, INFO_CHARS_MAX)
      if (this.#isEnding) this.#kill()
    })
    for (const stream of [child.stdin, this.#end(GO_FD), this.#end(ENVIRONMENT_FD)])
      stream?.on('error', () => undefined)
  }

  get isAlive(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null
  }

  async join(): Promise<void> {
    if (this.group !== null && this.child.pid !== undefined) await this.group.add(this.child.pid)
  }

  /**
   * Becomes the command. Its environment is passed in a descriptor that only the innermost shell reads: it is in no
   * file and in no process list, and everything that runs before that shell has a fixed environment.
   */
  startCommand(argv: readonly string[], env: Readonly<Record<string, string>>): void {
    this.#tells = argv.includes('--info-fd')
    writeFileSync(this.script, `exec ${argv.map(quoteWord).join(' ')}\n`, { mode: 0o600 })
    this.#end(ENVIRONMENT_FD)?.end(encodeEnvironment(env))
    // Stays open while the server lives; the innermost shell uses it to check that.
    this.#end(GO_FD)?.write('go\n')
  }

  #end(fd: number): Writable | null {
    return this.child.stdio[fd] as Writable | null
  }

  /**
   * Resolves when no process of the command runs any more. Its launcher may report its end before the last process has
   * ended.
   */
  async waitUntilGone(): Promise<void> {
    const pid = this.#firstProcess()
    if (pid === null) return
    for (let waited = 0; waited < GONE_MS_MAX && isRunning(pid); waited += 1)
      await new Promise((resolve) => setTimeout(resolve, 1))
    if (isRunning(pid)) throw new Error('a process outlived its command')
  }

  /** To be called when the command has ended. */
  cleanUp(): void {
    rmSync(this.script, { force: true })
    this.group?.remove()
  }

  discard(): void {
    this.child.once('close', () => this.cleanUp())
    this.child.kill('SIGKILL')
  }

  // A launcher ties the first process of a command to its own life only after all mounts are made: if it is killed
  // before that, the command keeps running. It reports that process before it lets it run, so end that one first.
  #kill(): boolean {
    if (!this.isAlive) return false
    const pid = this.#firstProcess()
    if (this.#tells && pid === null) {
      if (!this.#isEnding) setTimeout(() => this.#endLauncher('SIGKILL'), TOLD_MS_MAX).unref()
      this.#isEnding = true
      return true
    }
    if (pid !== null) end(Number(pid))
    return this.#endLauncher('SIGKILL')
  }

  #firstProcess(): string | null {
    return /"child-pid": (\d+)/.exec(this.#info)?.[1] ?? null
  }
}

function end(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    // Already ended; its launcher is ended in any case.
    return false
  }
}

const GONE_MS_MAX = 10_000

// The first process of a namespace is dead only when all others in it are. Its parent may be slow to reap it.
function isRunning(pid: string): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

// A server that was killed while a command started left its arguments behind.
function sweep(dir: string): void {
  for (const name of readdirSync(dir)) {
    const [, pid] = /^start-(\d+)-\d+$/.exec(name) ?? []
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(dir, name), { force: true })
  }
}

// The parent of the server may have left descriptors open that every child would inherit: each is replaced by an empty
// one.
function coverForeign(): readonly (number | 'ignore')[] {
  const foreign = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > OBSERVED_FILTER_FD && isInherited(fd))
  if (foreign.length === 0) return []
  const nothing = openSync('/dev/null', 'r')
  const last = Math.min(Math.max(...foreign), DESCRIPTORS_MAX)
  return Array.from({ length: last - OBSERVED_FILTER_FD }, (_, index) =>
    foreign.includes(index + OBSERVED_FILTER_FD + 1) ? nothing : 'ignore',
  )
}

const DESCRIPTORS_MAX = 4096
const CLOSE_ON_EXEC = 0o2000000

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch {
    return false
  }
}
