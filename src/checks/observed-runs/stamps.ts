import { lstatSync } from 'node:fs'
import { join, posix } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TreeIndex } from '../../tree/tree-contents.js'

const ENTRIES_PER_TURN = 500

/** When each file of a tree that counts, and each folder that holds one, was last touched. */
export type Stamps = ReadonlyMap<string, string>

export async function readStamps(root: string, index: TreeIndex): Promise<Stamps> {
  const stamps = new Map<string, string>()
  let looked = 0
  const look = async (path: string): Promise<void> => {
    if (stamps.has(path)) return
    const stat = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false })
    stamps.set(path, stat === undefined ? 'gone' : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`)
    looked += 1
    if (looked % ENTRIES_PER_TURN === 0) await nextTurn()
  }
  for (const path of Object.keys(index.entries)) {
    await look(path)
    await look(posix.dirname(path))
  }
  return stamps
}

/** What was touched between two looks, also where it was put back as it was. */
export function findTouched(before: Stamps, after: Stamps): readonly string[] {
  return [...before].filter(([path, stamp]) => after.get(path) !== stamp).map(([path]) => path)
}

const TOUCHED_NAMED_MAX = 5

/** What was changed under a run, and maybe changed back: the run is not of what it is said to be of. */
export function formatTouched(touched: readonly string[]): readonly string[] {
  if (touched.length === 0) return []
  const more = touched.length > TOUCHED_NAMED_MAX ? ` and ${touched.length - TOUCHED_NAMED_MAX} more` : ''
  return [`Touched while the commands ran: ${touched.slice(0, TOUCHED_NAMED_MAX).join(', ')}${more}. Ask again`]
}
