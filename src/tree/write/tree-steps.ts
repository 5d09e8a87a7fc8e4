import { posix } from 'node:path'
import type { Change } from '../change.js'
import { splitPath } from '../lookup.js'

/** What a file shall contain: the bytes, or a way to open them for reading; whoever writes closes what was opened. */
export type Content = Buffer | (() => number)

/** One change of a work tree. Rights are kept to 0777: nothing written here runs as somebody else. */
export type TreeStep =
  | {
      readonly type: 'write'
      readonly path: string
      readonly content: Content
      /** Kept from the file that is replaced, or 0644 within the umask, when left out. */
      readonly mode?: number
      /** Refused as changed unless exactly this file is there (see `formatIdentity`). */
      readonly expected?: string
    }
  | { readonly type: 'append'; readonly path: string; readonly content: Buffer }
  /** A file, a link or an empty directory; a directory with everything in it only when asked for. */
  | { readonly type: 'delete'; readonly path: string; readonly isRecursive?: boolean }
  /** Nothing happens when it is there already, but for its mode. */
  | { readonly type: 'make_directory'; readonly path: string; readonly mode?: number }
  /** Replaces a link, and nothing else. */
  | { readonly type: 'make_link'; readonly path: string; readonly target: string }
  | { readonly type: 'set_mode'; readonly path: string; readonly mode: number }

export interface CommittedSteps {
  readonly ok: true
  /** In the order of the steps, with the directories that were made on the way. */
  readonly changes: readonly Change[]
  /** Paths of what was put aside and could not be removed afterwards. */
  readonly leftovers: readonly string[]
}

const TARGET_CHARS_MAX = 4096

/**
 * Whether a link stays inside the tree. `..` may only come first: behind a name that is itself a link, it would begin anywhere.
 */
export function isTargetInside(path: string, target: string): boolean {
  if (target === '' || target.length > TARGET_CHARS_MAX || target.startsWith('/') || target.includes('\0')) return false
  const names = target.split('/').filter((name) => name !== '' && name !== '.')
  const up = names.findIndex((name) => name !== '..')
  if (up !== -1 && names.slice(up).includes('..')) return false
  const depth = (splitPath(path)?.length ?? 0) - 1
  return (up === -1 ? names.length : up) <= depth
}

/** The path of another name in the same directory. */
export function replaceLastName(path: string, name: string): string {
  return posix.join(getParentPath(path), name)
}

export function getParentPath(path: string): string {
  const parent = posix.dirname(path)
  return parent === '.' ? '' : parent
}
