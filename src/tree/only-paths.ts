import type { TreeIndex } from './tree-contents.js'

/** The same paths in an object without a prototype: a file may be called `constructor`. */
export function toPlainPaths(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.assign(Object.create(null), entries)
}

/** Restores an index that was just sent or read, in place: copying many paths takes long. */
export function restoreIndex(index: TreeIndex): TreeIndex {
  Object.setPrototypeOf(index.entries, null)
  Object.setPrototypeOf(index.packages, null)
  return index
}
