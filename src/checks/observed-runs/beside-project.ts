import { createHash } from 'node:crypto'
import { closeSync, lstatSync } from 'node:fs'
import { formatFdPath, openDirectory } from '../../tree/lookup.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { TooMuch, walkFrom } from '../../tree/walk.js'

const ENTRIES_MAX = 20_000
// Folders at the root that the fingerprint of a project leaves out but a run may load.
const BUILT = ['dist', 'target', 'coverage'] as const

/**
 * A digest of files that a run can load and the project's fingerprint leaves out: installed packages and build output.
 * Any file written there changes it. Null when there are too many files: then no earlier run is reused.
 */
export function hashBesideProject(root: string, index: TreeIndex): string | null {
  const hash = createHash('sha256')
  for (const [folder, digest] of Object.entries(index.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(JSON.stringify([folder, digest]))
  try {
    for (const folder of BUILT) lookInto(root, folder, (line) => hash.update(line))
  } catch (error) {
    if (error instanceof TooMuch) return null
    throw error
  }
  return hash.digest('hex')
}

function lookInto(root: string, folder: string, tell: (line: string) => void): void {
  const opened = openDirectory(root, [folder])
  if (!opened.ok) return
  try {
    for (const { path, name, kind, directoryFd } of walkFrom(opened.fd, {
      isEntered: () => true,
      entriesMax: ENTRIES_MAX,
    })) {
      if (kind === 'directory') continue
      const stat = lstatSync(formatFdPath(directoryFd, name), { bigint: true, throwIfNoEntry: false })
      if (stat !== undefined)
        tell(JSON.stringify([folder, path, `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}`]))
    }
  } finally {
    closeSync(opened.fd)
  }
}
