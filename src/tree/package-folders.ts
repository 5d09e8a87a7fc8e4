import { createHash } from 'node:crypto'
import { closeSync, lstatSync } from 'node:fs'
import { ENTRIES_MAX } from './limits.js'
import { formatFdPath, openDirectoryIn } from './lookup.js'
import { type MetEntry, walkFrom } from './walk.js'

/** Folders of installed packages, wherever they lie. */
export const PACKAGE_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '.venv', 'venv'])

/** A digest of names, sizes and times below a folder of installed packages. */
export function hashPackages(met: MetEntry): string {
  const opened = openDirectoryIn(met.directoryFd, met.name)
  if (!opened.ok) return 'unreadable'
  const packed = createHash('sha256')
  try {
    for (const one of walkFrom(opened.fd, { isEntered: isNoCache, entriesMax: ENTRIES_MAX, reusesNames: true })) {
      if (one.kind === 'directory') continue
      const stat = lstatSync(formatFdPath(one.directoryFd, one.name), { bigint: true, throwIfNoEntry: false })
      if (stat === undefined) continue
      packed.update(`${one.path}\0${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}\n`)
    }
    return packed.digest('hex')
  } finally {
    closeSync(opened.fd)
  }
}

// Files that tools write next to packages whenever they run.
const CACHES: ReadonlySet<string> = new Set(['.cache', '.vite', '.vite-temp', '.vitest', '.vitest-cache'])

function isNoCache({ name, depth }: MetEntry): boolean {
  return name !== '__pycache__' && !(depth === 0 && CACHES.has(name))
}
