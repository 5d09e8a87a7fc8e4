import { createHash } from 'node:crypto'
import { closeSync, fstatSync, lstatSync, readlinkSync } from 'node:fs'
import { formatFdPath, formatIdentity, openDirectory, openFileIn } from './lookup.js'
import { TreeUnreadable } from './problems.js'
import { hashFile, isSettled } from './tree-contents.js'
import { type MetEntry, walkFrom } from './walk.js'
import { NOT_THE_PROJECT } from './work-tree.js'

const ENTRIES_MAX = 200_000
const HASHED_BYTES_MAX = 1024 * 1024 * 1024

/**
 * SHA-256 over every path and content of the project, except the named files: equal when nothing in it has changed.
 * Files whose identity is in `known` are not read again.
 */
export function computeFingerprint(root: string, except: ReadonlySet<string>, known: Map<string, string>): string {
  const opened = openDirectory(root, [])
  if (!opened.ok) throw new TreeUnreadable(`the work tree ${root} cannot be opened`)
  const found: (readonly [path: string, what: string])[] = []
  const isEntered = ({ name, depth }: MetEntry): boolean =>
    !NOT_THE_PROJECT.anywhere.has(name) && !(depth === 0 && NOT_THE_PROJECT.atRoot.has(name))
  try {
    for (const met of walkFrom(opened.fd, { isEntered, denied: refuseDenied, entriesMax: ENTRIES_MAX }))
      if ((met.kind === 'file' || met.kind === 'link') && !except.has(met.path))
        found.push([met.path, met.kind === 'link' ? readLink(met) : hashMet(met, known)])
  } finally {
    closeSync(opened.fd)
  }
  const whole = createHash('sha256')
  for (const entry of found.sort(([a], [b]) => (a < b ? -1 : 1))) whole.update(JSON.stringify(entry))
  return whole.digest('hex')
}

function refuseDenied(path: string): never {
  throw new TreeUnreadable(`${path} cannot be read: permission denied`)
}

// A name that cannot be opened again would keep its fingerprint whatever is written to it.
function refuseChanged(path: string): never {
  throw new TreeUnreadable(`${path} was changed while the work tree was read, or has a name that is not UTF-8`)
}

function readLink({ directoryFd, name, path }: MetEntry): string {
  try {
    return `link ${readlinkSync(formatFdPath(directoryFd, name))}`
  } catch {
    return refuseChanged(path)
  }
}

function hashMet({ directoryFd, name, path }: MetEntry, known: Map<string, string>): string {
  const seen = lstatSync(formatFdPath(directoryFd, name), { bigint: true, throwIfNoEntry: false })
  const before = seen?.isFile() === true ? known.get(formatIdentity(seen)) : undefined
  if (before !== undefined) return before
  const file = openFileIn(directoryFd, name)
  if (!file.ok) return file.problem === 'denied' ? refuseDenied(path) : refuseChanged(path)
  try {
    if (file.stat.size > HASHED_BYTES_MAX) throw new TreeUnreadable(`${path} is larger than ${HASHED_BYTES_MAX} bytes`)
    const digest = hashFile(file.fd)
    const identity = formatIdentity(file.stat)
    if (isSettled(file.stat) && formatIdentity(fstatSync(file.fd, { bigint: true })) === identity)
      known.set(identity, digest)
    return digest
  } finally {
    closeSync(file.fd)
  }
}
