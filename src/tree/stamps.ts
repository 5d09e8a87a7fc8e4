import { fstatSync, lstatSync } from 'node:fs'
import { formatFdPath, formatIdentity } from './lookup.js'
import type { MetEntry } from './walk.js'

/**
 * When each file that counts, and each folder that contains one, was last touched: paths and identities in turn, with
 * zeros between them. One text, because it passes from thread to thread, and stays the same until something is touched.
 */
export type Stamps = string

/** Writes the stamps of a tree while it is read. */
export class StampWriter {
  readonly #parts: string[] = []
  readonly #folders = new Map<string, string>()

  enter(path: string, fd: number): void {
    this.#folders.set(path, formatIdentity(fstatSync(fd, { bigint: true })))
  }

  /** `identity`: of a file that was just looked at. */
  add({ path, folder, directoryFd, name }: MetEntry, identity: string | null): void {
    const entered = this.#folders.get(folder)
    if (entered !== undefined) this.#parts.push(folder === '' ? '.' : folder, entered)
    this.#folders.delete(folder)
    this.#parts.push(path, identity ?? readIdentity(directoryFd, name))
  }

  finish(): Stamps {
    return this.#parts.join('\0')
  }
}

function readIdentity(directoryFd: number, name: string): string {
  const stat = lstatSync(formatFdPath(directoryFd, name), { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? 'gone' : formatIdentity(stat)
}

/** Paths touched between two readings, including those that were restored. Both must have been asked for. */
export function findTouched(before: Stamps | null, after: Stamps | null): readonly string[] {
  if (before === null || after === null) throw new Error('the stamps of the tree were not read')
  if (before === after) return []
  const now = new Map(split(after))
  return split(before).flatMap(([path, stamp]) => (now.get(path) === stamp ? [] : [path]))
}

function split(stamps: Stamps): readonly (readonly [path: string, stamp: string])[] {
  const parts = stamps.split('\0')
  return parts.flatMap((path, at) => (at % 2 === 0 ? [[path, parts[at + 1] ?? ''] as const] : []))
}
