/**
 * How far down and how long the paths of a work tree may be. One limit for everything that writes into a tree and everything
 * that reads a whole one: what could be written and not be read would stop every task in that tree.
 */
export const FOLDERS_MAX = 64
/** Leaves room for the folder that the tree, or a view of it, lies in: the kernel takes 4095 bytes in all. */
export const PATH_BYTES_MAX = 3000

/** True for a path that is never written, nor met on the way through a tree. */
export function isTooDeep(path: string): boolean {
  return path.length > FOLDERS_MAX && (isTooLong(path) || path.split('/').length - 1 > FOLDERS_MAX)
}

/** The half of it that the walk cannot tell by its own depth. No character takes more than three bytes. */
export function isTooLong(path: string): boolean {
  return path.length > PATH_BYTES_MAX / 3 && Buffer.byteLength(path) > PATH_BYTES_MAX
}
