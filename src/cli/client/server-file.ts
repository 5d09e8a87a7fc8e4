import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'
import { isObject } from '../../core/json.js'
import { ENGINES, type EngineName, isContainerRunning } from '../container/engine.js'

/** The note that a running server writes next to its state, so that clients find it. */
export interface ServerNote {
  readonly pid: number
  readonly url: string
  readonly startedAt: string
  /** Where the server runs in a container; its process id is then one of the container. */
  readonly container?: ContainerPlace
}

export interface ContainerPlace {
  readonly engine: EngineName
  readonly name: string
}

function getServerFile(stateDir: string): string {
  return join(stateDir, 'server.json')
}

export function writeServerNote(stateDir: string, note: ServerNote): void {
  const { container } = note
  const text = JSON.stringify({ pid: note.pid, url: note.url, started_at: note.startedAt, container })
  writeFileAtomically(getServerFile(stateDir), `${text}\n`)
}

/** Removes the note, unless another server has written its own by now. */
export function removeServerNote(stateDir: string, pid: number): void {
  if (readServerNote(stateDir)?.pid === pid) rmSync(getServerFile(stateDir), { force: true })
}

/** The note; null when there is none or it cannot be read. */
export function readServerNote(stateDir: string): ServerNote | null {
  try {
    const note = JSON.parse(readFileSync(getServerFile(stateDir), 'utf8')) as Record<string, unknown>
    const { pid, url, started_at: startedAt } = note
    const isNote = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 && typeof url === 'string'
    if (!isNote) return null
    const container = readContainerPlace(note.container)
    const about = { pid, url, startedAt: typeof startedAt === 'string' ? startedAt : '' }
    return container === null ? about : { ...about, container }
  } catch {
    // Missing, unreadable or half written: there is no note.
    return null
  }
}

/** The note of a server whose process exists; the note of a killed server does not count. */
export function findLiveServerNote(stateDir: string): ServerNote | null {
  const note = readServerNote(stateDir)
  return note !== null && isRunning(note) ? note : null
}

const LISTED_MAX = 5

/** Servers that run for this account in default state directories, each with the name of its work tree. */
export function listRunningServers(base: string): readonly { readonly url: string; readonly name: string }[] {
  let names: readonly string[] = []
  try {
    names = readdirSync(base)
  } catch {
    // No server was ever started here.
  }
  const found = names.flatMap((folder) => {
    const note = findLiveServerNote(join(base, folder))
    return note === null ? [] : [{ url: note.url, name: folder.replace(/-[0-9a-f]{12}$/, '') }]
  })
  return found.slice(0, LISTED_MAX)
}

export function isRunning({ pid, container }: ServerNote): boolean {
  return container === undefined ? isAlive(pid) : isContainerRunning(container)
}

function readContainerPlace(value: unknown): ContainerPlace | null {
  if (!isObject(value)) return null
  const engine = ENGINES.find((name) => name === value.engine)
  return engine === undefined || typeof value.name !== 'string' ? null : { engine, name: value.name }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
