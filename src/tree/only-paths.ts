import type { TreeIndex } from './tree-contents.js'

/** The same paths in an object without a prototype: a file may be called `constructor`. */
export function toPlainPaths(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.assign(Object.create(null), entries)
}

/** Restores an index that was sent or stored. */
export function restoreIndex(index: TreeIndex): TreeIndex {
  return { ...index, entries: toPlainPaths(index.entries), packages: toPlainPaths(index.packages) }
}
