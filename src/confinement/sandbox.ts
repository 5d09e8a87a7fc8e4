import { type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Change } from '../tree/change.js'
import { commitChanges } from './commit-changes.js'
import type { HostView } from './host-view.js'
import type { Identity } from './identity.js'
import type { Keeper } from './keeper.js'
import { BLOCK_FD, type Launch, type Launcher } from './launch.js'
import { type Group, type Groups, type Limits, limitsLine } from './limits.js'
import type { ChangeSet, Confined, Ended, Job } from './port.js'
import { ChangesRefused, readChanges } from './read-changes.js'
import { copy, kindOf, MERGED, overlay, type Run, remove, TOUCHED } from './runs.js'

export interface Parts {
  readonly keeper: Keeper
  readonly identity: Identity
  readonly base: string
  readonly view: HostView
  readonly launcher: Launcher
  readonly trees: 'overlay' | 'copy'
  /** File of the seccomp filter; null where there is none for this processor. */
  readonly filter: string | null
  readonly limits: Limits
  readonly groups: Groups | null
}

const GIT = '.git'
/** Installed packages: large, and never the agent's to change. A copied tree mounts them instead of copying them. */
const DEPENDENCIES = new Set(['node_modules', '.venv', 'venv'])
// The processes of all commands of a root server count together; their control groups bound each command.
const SHARED_PROCESSES_FACTOR = 8

/** Runs commands in namespaces, each with its own view of the work tree. */
export class Sandbox {
  #count = 0
  readonly #covered: readonly (number | 'ignore')[]

  constructor(private readonly parts: Parts) {
    this.#covered = coverForeign()
  }

  async start(job: Job): Promise<Confined> {
    this.#count += 1
    const name = `run-${this.#count}`
    const { keeper, groups, limits } = this.parts
    const mounted = this.#mounted(job)
    const run = await this.#prepare(name, job, mounted)
    const group = groups?.make(`phaselock-${process.pid}-${this.#count}`, limits) ?? null
    try {
      const child = this.#spawn(this.#launch(run, job, mounted), group)
      return confinedOf(child, job, async (stopped) => {
        group?.remove()
        const keep = job.writes === 'keep' && stopped === null
        return keep ? await this.#changes(run, job, mounted) : await dropped(keeper, run)
      })
    } catch (error) {
      group?.remove()
      await remove(keeper, run)
      throw error
    }
  }

  async #prepare(name: string, job: Job, mounted: ReadonlySet<string>): Promise<Run> {
    const { keeper, trees } = this.parts
    if (trees === 'overlay') return overlay(keeper, name, job)
    return copy(keeper, name, { job, entries: readdirSync(job.tree).filter((entry) => !mounted.has(entry)) })
  }

  // Top-level folders of the tree that are mounted read-only over the view of it.
  #mounted(job: Job): ReadonlySet<string> {
    const names = new Set<string>()
    if (job.git === 'read' && kindOf(job.tree, GIT) === 'directory') names.add(GIT)
    if (this.parts.trees === 'copy')
      for (const name of DEPENDENCIES) if (kindOf(job.tree, name) === 'directory') names.add(name)
    return names
  }

  #launch(run: Run, job: Job, mounted: ReadonlySet<string>): Launch {
    const { identity, keeper, base, limits, groups } = this.parts
    const processes = groups === null ? limits.processes : limits.processes * SHARED_PROCESSES_FACTOR
    return {
      identity,
      keeperPid: keeper.pid,
      base,
      tree: join(run.dir, MERGED),
      runDir: run.dir,
      job,
      readOnly: [...mounted].map((name) => ({ from: join(job.tree, name), at: name })),
      covered: job.hidden.flatMap((at) => {
        const type = kindOf(job.tree, at)
        return type === 'file' || type === 'directory' ? [{ at, type }] : []
      }),
      limits: limitsLine({ ...limits, processes }, job.timeoutMs),
      hasFilter: this.parts.filter !== null,
    }
  }

  #spawn(launch: Launch, group: Group | null): Child {
    const { filter, view, launcher } = this.parts
    const [program, args] = launcher(launch)
    const filterFd = filter === null ? null : openSync(filter, 'r')
    try {
      const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', filterFd ?? 'ignore', 'pipe', ...this.#covered]
      const child = spawn(program, args, { stdio, env: { ...cleanEnv(view), ...launch.job.env }, cwd: '/' })
      const block = child.stdio[BLOCK_FD] as Writable
      block.on('error', () => undefined)
      child.stdin?.on('error', () => undefined)
      if (child.pid !== undefined && group !== null) group.add(child.pid)
      block.end('go\n')
      return child as unknown as Child
    } finally {
      if (filterFd !== null) closeSync(filterFd)
    }
  }

  async #changes(run: Run, job: Job, mounted: ReadonlySet<string>): Promise<ChangeSet> {
    const { keeper, trees } = this.parts
    const after = join(run.seen, MERGED)
    const touched = trees === 'overlay' ? join(run.seen, TOUCHED) : null
    try {
      const list = await readChanges({ before: job.tree, after, touched, skipped: mounted })
      return {
        list,
        commit: async () => {
          try {
            return await commitChanges(job.tree, after, list)
          } finally {
            await remove(keeper, run)
          }
        },
        discard: () => remove(keeper, run),
      }
    } catch (error) {
      await remove(keeper, run)
      if (!(error instanceof ChangesRefused)) throw error
      return { list: [refusedWhole(error.message)], commit: async () => null, discard: async () => undefined }
    }
  }
}

// Whoever started the server may have left descriptors open that every child would inherit: each is replaced by an empty one.
function coverForeign(): readonly (number | 'ignore')[] {
  const foreign = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > BLOCK_FD && isInherited(fd))
  if (foreign.length === 0) return []
  const nothing = openSync('/dev/null', 'r')
  const last = Math.min(Math.max(...foreign), DESCRIPTORS_MAX)
  return Array.from({ length: last - BLOCK_FD }, (_, index) =>
    foreign.includes(index + BLOCK_FD + 1) ? nothing : 'ignore',
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

interface Child {
  readonly pid?: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  kill(signal: NodeJS.Signals): boolean
  once(event: string, listener: (...args: never[]) => void): unknown
}

/** Watches a child to its end: time, abort, and what it left behind. */
export function confinedOf(
  child: Child,
  job: Job,
  settle: (stopped: Ended['stopped']) => Promise<ChangeSet>,
): Confined {
  let stopped: Ended['stopped'] = null
  const stop = (why: NonNullable<Ended['stopped']>): void => {
    stopped ??= why
    child.kill('SIGKILL')
  }
  const onAbort = (): void => stop('aborted')
  const timer = setTimeout(() => stop('timeout'), job.timeoutMs)
  job.signal.addEventListener('abort', onAbort, { once: true })
  if (job.signal.aborted) onAbort()
  const done = new Promise<Ended>((resolve, reject) => {
    child.once('error', (error: Error) => reject(error))
    child.once('close', (code: number | null, signal: string | null) => {
      clearTimeout(timer)
      job.signal.removeEventListener('abort', onAbort)
      settle(stopped).then(
        (changes) => resolve({ exitCode: code ?? (signal === null ? 1 : SIGNALLED), stopped, changes }),
        reject,
      )
    })
  })
  // Whoever waits for it sees the fault; one that nobody waits for yet must not end the server.
  done.catch(() => undefined)
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, done, kill: () => stop('output') }
}

const SIGNALLED = 137

async function dropped(keeper: Keeper, run: Run): Promise<ChangeSet> {
  await remove(keeper, run)
  return NO_CHANGES
}

export const NO_CHANGES: ChangeSet = { list: [], commit: async () => null, discard: async () => undefined }

function refusedWhole(problem: string): Change {
  return { path: '.', kind: 'modified', type: 'directory', bytes: null, sha256: null, problem }
}

/** Never inherited: what a command may know of its surroundings is listed here. */
export function cleanEnv(view: Pick<HostView, 'path'>): Record<string, string> {
  return {
    PATH: view.path,
    HOME: '/tmp',
    TMPDIR: '/tmp',
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...(process.env.TZ === undefined ? {} : { TZ: process.env.TZ }),
  }
}

export function writeFilter(file: string, filter: Buffer): string {
  writeFileSync(file, filter, { mode: 0o600 })
  return file
}
