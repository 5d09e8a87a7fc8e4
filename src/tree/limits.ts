/**
 * Maximum depth and length of paths in a work tree. The same limit for everything that writes to a tree and everything
 * that reads a whole one: a path that can be written but not read would stop every task in that tree.
 */
export const FOLDERS_MAX = 64
/** Leaves room for the folder of the tree or its view: the kernel accepts 4095 bytes in total. */
export const PATH_BYTES_MAX = 3000

/** How many entries are read at most where a whole tree is read, with everything that git ignores. */
export const ENTRIES_MAX = 1_000_000

/** True for a path that is never written, and skipped when a tree is read. */
export function isTooDeep(path: string): boolean {
  return path.length > FOLDERS_MAX && (isTooLong(path) || path.split('/').length - 1 > FOLDERS_MAX)
}

/** The part that the walk does not know from its own depth. No character takes more than three bytes. */
export function isTooLong(path: string): boolean {
  return path.length > PATH_BYTES_MAX / 3 && Buffer.byteLength(path) > PATH_BYTES_MAX
}
