import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'

/** The note that a running server writes next to its state, so that clients find it. */
export interface ServerNote {
  readonly pid: number
  readonly url: string
  readonly startedAt: string
}

function getServerFile(stateDir: string): string {
  return join(stateDir, 'server.json')
}

export function writeServerNote(stateDir: string, note: ServerNote): void {
  const text = JSON.stringify({ pid: note.pid, url: note.url, started_at: note.startedAt })
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
    return isNote ? { pid, url, startedAt: typeof startedAt === 'string' ? startedAt : '' } : null
  } catch {
    // Missing, unreadable or half written: there is no note.
    return null
  }
}

/** The note of a server whose process exists; the note of a killed server does not count. */
export function findLiveServerNote(stateDir: string): ServerNote | null {
  const note = readServerNote(stateDir)
  return note !== null && isAlive(note.pid) ? note : null
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
