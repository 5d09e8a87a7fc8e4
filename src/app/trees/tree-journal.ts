import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Change } from '../../tree/change.js'
import { ANY_LINK } from '../../tree/tree-contents.js'

/** A path, and what an allowed call made of it; null: it is gone. */
type Line = readonly [path: string, what: string | null]
const NOT_COMPARED = /(^|\/)(\.git|node_modules|\.venv|venv)(\/|$)/

/** Whether anything stands at a path of a tree. */
export function isThere(tree: string, path: string): boolean {
  try {
    return lstatSync(join(tree, path), { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    // A folder on the way became a file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false
    throw error
  }
}

/** What a change adds to the journal of a tree. */
export function toLines({ path, kind, type, sha256 }: Change): readonly Line[] {
  if (type === 'directory' || NOT_COMPARED.test(path)) return []
  if (kind === 'deleted') return [[path, null]]
  return [[path, type === 'link' ? ANY_LINK : `file ${sha256 ?? ''}`]]
}

/** A line of the journal; null when it is none. */
export function parseLine(line: string): Line | null {
  try {
    const parsed = JSON.parse(line) as unknown
    return Array.isArray(parsed) && typeof parsed[0] === 'string' ? (parsed as unknown as Line) : null
  } catch {
    return null
  }
}
