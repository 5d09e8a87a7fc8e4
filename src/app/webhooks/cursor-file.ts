import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'

/** How far notices have come: events up to `after` were taken, or given up, at that address. */
export interface LaneMark {
  readonly url: string
  readonly secretEnvVar: string | null
  readonly after: number
}

interface Cursors {
  /** Events up to here were looked at for addresses that are new. */
  readonly discovered: number
  readonly lanes: readonly LaneMark[]
}

/** Null when there is none yet. One that cannot be read is a fault: notices that were promised would be forgotten. */
export function readCursors(file: string): Cursors | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return JSON.parse(text) as Cursors
}

export function writeCursors(file: string, cursors: Cursors): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileAtomically(file, JSON.stringify(cursors))
}
