import { posix } from 'node:path'

/** Where a harness works and where the work tree of its task lies; both absolute. */
export interface Place {
  readonly cwd: string
  readonly tree: string
}

export type PathRead = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly problem: string }

/**
 * A path of a harness as a path of the work tree; one that lies elsewhere stays absolute. A path that a harness reads otherwise
 * than it is written (spaces cut off, `~` filled in, characters put together) is no path: what it leads to could not be told.
 */
export function resolveTreePath(given: string, place: Place): PathRead {
  if (given === '') return { ok: false, problem: 'is empty' }
  if (given.includes('\0')) return { ok: false, problem: 'contains a NUL character' }
  if (given.includes('\\')) return { ok: false, problem: 'contains a backslash' }
  if (given !== given.trim()) return { ok: false, problem: 'begins or ends with white space' }
  if (given.startsWith('~')) return { ok: false, problem: 'begins with "~"' }
  if (given !== given.normalize('NFC')) return { ok: false, problem: 'has characters in more than one form' }
  const full = posix.normalize(given.startsWith('/') ? given : `${place.cwd}/${given}`)
  const tree = posix.normalize(place.tree).replace(/\/+$/, '')
  const bare = full.length > 1 ? full.replace(/\/+$/, '') : full
  if (bare === tree) return { ok: true, path: '.' }
  return { ok: true, path: bare.startsWith(`${tree}/`) ? bare.slice(tree.length + 1) : bare }
}
