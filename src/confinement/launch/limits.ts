import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'

const GIB = 1024 ** 3

/** Limits of one command. */
export interface Limits {
  readonly memoryBytes: number
  readonly processes: number
  readonly fileBytes: number
  readonly openFiles: number
}

export function computeDefaultLimits(): Limits {
  return {
    memoryBytes: Math.min(4 * GIB, Math.floor(totalmem() / 2)),
    processes: 512,
    fileBytes: GIB,
    openFiles: 4096,
  }
}

const CPU_SECONDS_EXTRA = 5

/** The limits of each process, as a line for bash. They are hard limits: nothing inside can raise them again. */
export function buildLimitsLine(limits: Limits, timeoutMs: number): string {
  const kib = (bytes: number) => Math.floor(bytes / 1024)
  return [
    'umask 022',
    'ulimit -c 0',
    `ulimit -u ${limits.processes}`,
    `ulimit -f ${kib(limits.fileBytes)}`,
    `ulimit -n ${limits.openFiles}`,
    `ulimit -d ${kib(limits.memoryBytes)}`,
    `ulimit -t ${Math.ceil(timeoutMs / 1000) + CPU_SECONDS_EXTRA}`,
  ].join(' && ')
}

/** Control groups limit a command and everything it starts together. Only root can create them. */
export interface Groups {
  /** Null when the group could not be created: then only the limits of each process apply. */
  make(name: string, limits: Limits): Group | null
}

export interface Group {
  add(pid: number): Promise<void>
  remove(): void
}

const V2 = '/sys/fs/cgroup'

export function openControlGroups(): Groups | null {
  if (process.getuid?.() !== 0) return null
  const isV2 = existsSync(join(V2, 'cgroup.controllers'))
  if (!isUsable(isV2 ? V2 : join(V2, 'pids'), isV2 ? 'v2' : 'v1')) return null
  for (const root of isV2 ? [V2] : [join(V2, 'pids'), join(V2, 'memory')]) sweep(root)
  return { make: isV2 ? makeV2 : makeV1 }
}

// Groups of killed servers. Their processes died with them, except a command that was just being started and did not
// depend on the server yet.
function sweep(root: string): void {
  if (!existsSync(root)) return
  for (const name of readdirSync(root)) {
    const [, pid] = /^phaselock-(\d+)-\d+$/.exec(name) ?? []
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    endAll(join(root, name, 'cgroup.procs'))
    removeGroup(join(root, name), REMOVE_TRIES)
  }
}

function endAll(list: string): void {
  // Processes that cannot be named from here are listed as 0, which would mean our own.
  for (const pid of readMembers(list)) if (pid > 1) end(pid)
}

function readMembers(list: string): readonly number[] {
  try {
    return readFileSync(list, 'utf8').split('\n').map(Number)
  } catch {
    // Another server that starts at the same time was faster.
    return []
  }
}

function end(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
    return false
  }
}

const REMOVE_TRIES = 20
const REMOVE_AGAIN_MS = 100

// The last process of a group may take a moment to end.
function removeGroup(folder: string, tries: number): void {
  try {
    rmdirSync(folder)
  } catch {
    if (tries > 0 && existsSync(folder)) setTimeout(() => removeGroup(folder, tries - 1), REMOVE_AGAIN_MS).unref()
  }
}

function isUsable(folder: string, version: 'v1' | 'v2'): boolean {
  try {
    if (version === 'v2' && !/\bpids\b/.test(readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8'))) return false
    const probe = join(folder, `phaselock-probe-${process.pid}`)
    mkdirSync(probe)
    rmdirSync(probe)
    return true
  } catch {
    return false
  }
}

function makeV2(name: string, limits: Limits): Group | null {
  return makeGroup([
    {
      folder: join(V2, name),
      settings: [
        ['pids.max', limits.processes],
        ['memory.max', limits.memoryBytes],
        ['memory.swap.max', 0],
      ],
    },
  ])
}

function makeV1(name: string, limits: Limits): Group | null {
  return makeGroup([
    { folder: join(V2, 'pids', name), settings: [['pids.max', limits.processes]] },
    { folder: join(V2, 'memory', name), settings: [['memory.limit_in_bytes', limits.memoryBytes]] },
  ])
}

interface Part {
  readonly folder: string
  readonly settings: readonly (readonly [file: string, value: number])[]
}

function makeGroup(parts: readonly Part[]): Group | null {
  const remove = (): void => {
    for (const { folder } of parts) removeGroup(folder, REMOVE_TRIES)
  }
  try {
    for (const { folder, settings } of parts) {
      mkdirSync(folder)
      for (const [file, value] of settings) {
        if (existsSync(join(folder, file))) writeFileSync(join(folder, file), String(value))
      }
    }
  } catch {
    remove()
    return null
  }
  return {
    // The kernel is slow at this: not on the thread that answers.
    add: async (pid) => {
      for (const { folder } of parts) await writeFile(join(folder, 'cgroup.procs'), String(pid))
    },
    remove,
  }
}
