import { posix } from 'node:path'

/** The agent CLI's working directory and the task's work tree; both absolute. */
interface Place {
  readonly cwd: string
  readonly tree: string
}

export type PathRead = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly problem: string }

/**
 * A path of an agent CLI relative to the work tree; one outside stays absolute. A path that an agent CLI reads
 * differently from how it is written (trimmed spaces, expanded `~`, normalised characters) is invalid: its target would
 * be unknown.
 */
export function resolveTreePath(given: string, place: Place): PathRead {
  if (given === '') return { ok: false, problem: 'is empty' }
  if (given.includes('\0')) return { ok: false, problem: 'contains a NUL character' }
  if (given.includes('\\')) return { ok: false, problem: 'contains a backslash' }
  if (given !== given.trim()) return { ok: false, problem: 'begins or ends with white space' }
  if (given.startsWith('~')) return { ok: false, problem: 'begins with "~"' }
  if (given !== given.normalize('NFC')) return { ok: false, problem: 'is not in the Unicode form NFC' }
  const full = posix.normalize(given.startsWith('/') ? given : `${place.cwd}/${given}`)
  const tree = posix.normalize(place.tree).replace(/\/+$/, '')
  const bare = full.length > 1 ? full.replace(/\/+$/, '') : full
  if (bare === tree) return { ok: true, path: '.' }
  return { ok: true, path: bare.startsWith(`${tree}/`) ? bare.slice(tree.length + 1) : bare }
}
