import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory, writeFileAtomically } from '../../base/atomic-file.js'

/** Progress of webhook delivery: events up to `after` were delivered to that address, or given up. */
export interface LaneMark {
  readonly url: string
  readonly secretEnvVar: string | null
  readonly after: number
}

interface Cursors {
  /** Events up to here were checked for new addresses. */
  readonly discovered: number
  readonly lanes: readonly LaneMark[]
}

/** Null when there is none yet. An unreadable file is a fault: promised notices would be lost. */
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
  makeDirectory(dirname(file))
  writeFileAtomically(file, JSON.stringify(cursors))
}
