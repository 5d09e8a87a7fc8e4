import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { sha256Hex } from '../../base/sha256.js'
import type { Change } from '../../tree/change.js'
import { restoreIndex } from '../../tree/only-paths.js'
import { ANY_LINK, type TreeIndex } from '../../tree/tree-contents.js'

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

/** Reads a stored snapshot. */
export function readIndex(file: string): TreeIndex {
  return restoreIndex(JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as TreeIndex)
}

/** Sets or removes the entry of a path. */
export function take(into: Record<string, string>, path: string, what: string | undefined): void {
  if (what === undefined) delete into[path]
  else into[path] = what
}

/** How files about a tree are named. */
export function formatTreeName(tree: string): string {
  return sha256Hex(tree).slice(0, 32)
}
