import { posix } from 'node:path'
import type { Change } from '../change.js'
import { splitPath } from '../lookup.js'

/** The new content of a file: the bytes, or a function that opens them for reading; the writer closes it. */
export type Content = Buffer | (() => number)

/** One change of a work tree. Modes are limited to 0777: nothing written here runs as another user. */
export type TreeStep =
  | {
      readonly type: 'write'
      readonly path: string
      readonly content: Content
      /** Of the content, where it is known; only to recognise the file again. */
      readonly sha256?: string
      /** Default: the mode of the replaced file, or 0644 within the umask. */
      readonly mode?: number
      /** Refused as changed unless exactly this file exists (see `formatIdentity`). */
      readonly expected?: string
    }
  | { readonly type: 'append'; readonly path: string; readonly content: Buffer }
  /** A file, a link or an empty directory; a directory with its content only if requested. */
  | { readonly type: 'delete'; readonly path: string; readonly isRecursive?: boolean }
  /** If it exists already, only its mode changes. */
  | { readonly type: 'make_directory'; readonly path: string; readonly mode?: number }
  /** Replaces a link, and nothing else. */
  | { readonly type: 'make_link'; readonly path: string; readonly target: string }
  | { readonly type: 'set_mode'; readonly path: string; readonly mode: number }

export interface CommittedSteps {
  readonly ok: true
  /** In the order of the steps, including created parent directories. */
  readonly changes: readonly Change[]
  /** Replaced entries that could not be removed afterwards. */
  readonly leftovers: readonly string[]
}

const TARGET_CHARS_MAX = 4096

/**
 * Whether a link stays inside the tree. `..` is only allowed at the start: after a name that is itself a link, it could
 * start anywhere.
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
