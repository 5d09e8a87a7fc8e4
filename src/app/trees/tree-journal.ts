import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Change } from '../../tree/change.js'
import { ANY_LINK } from '../../tree/tree-contents.js'

/** A path and its content after an allowed call; null: deleted. */
type Line = readonly [path: string, what: string | null]
const NOT_COMPARED = /(^|\/)(\.git|node_modules|\.venv|venv)(\/|$)/

/** Whether a path of a tree exists. */
export function isThere(tree: string, path: string): boolean {
  try {
    return lstatSync(join(tree, path), { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    // A parent folder became a file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false
    throw error
  }
}

/** The journal entries of a change. */
export function toLines({ path, kind, type, sha256 }: Change): readonly Line[] {
  if (type === 'directory' || NOT_COMPARED.test(path)) return []
  if (kind === 'deleted') return [[path, null]]
  return [[path, type === 'link' ? ANY_LINK : `file ${sha256 ?? ''}`]]
}

/** A line of the journal; null when it is invalid. */
export function parseLine(line: string): Line | null {
  try {
    const parsed = JSON.parse(line) as Line
    return Array.isArray(parsed) && typeof parsed[0] === 'string' ? parsed : null
  } catch {
    return null
  }
}
