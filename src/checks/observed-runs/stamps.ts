import { lstatSync } from 'node:fs'
import { posix } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TreeIndex } from '../../tree/tree-contents.js'

const ENTRIES_PER_TURN = 500

/** When each file that counts, and each folder that contains one, was last touched. */
type Stamps = ReadonlyMap<string, string>

export async function readStamps(root: string, index: TreeIndex): Promise<Stamps> {
  const stamps = new Map<string, string>()
  const look = (path: string): void => {
    const stat = lstatSync(`${root}/${path}`, { bigint: true, throwIfNoEntry: false })
    stamps.set(path, stat === undefined ? 'gone' : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`)
  }
  let looked = 0
  for (const path of Object.keys(index.entries)) {
    look(path)
    const folder = posix.dirname(path)
    if (!stamps.has(folder)) look(folder)
    looked += 1
    if (looked % ENTRIES_PER_TURN === 0) await nextTurn()
  }
  return stamps
}

/** Paths touched between two readings, including those that were restored. */
export function findTouched(before: Stamps, after: Stamps): readonly string[] {
  return [...before].filter(([path, stamp]) => after.get(path) !== stamp).map(([path]) => path)
}

const TOUCHED_NAMED_MAX = 5

/** Files that changed during a run, and perhaps changed back: the run does not belong to the recorded tree. */
export function formatTouched(touched: readonly string[]): readonly string[] {
  if (touched.length === 0) return []
  const more = touched.length > TOUCHED_NAMED_MAX ? ` and ${touched.length - TOUCHED_NAMED_MAX} more` : ''
  return [
    `Files changed while the commands ran: ${touched.slice(0, TOUCHED_NAMED_MAX).join(', ')}${more}. Request the transition again`,
  ]
}
