import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sha256Hex } from '../../base/sha256.js'
import type { Change } from '../../tree/change.js'
import { restoreIndex } from '../../tree/only-paths.js'
import { ANY_LINK, type TreeIndex } from '../../tree/tree-contents.js'

/** A path and its content after an allowed call; null: deleted. */
export type Line = readonly [path: string, what: string | null]
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

/**
 * The journal entries that turn one tree into another, also for links whose target was open; null when they differ in
 * more than their entries.
 */
export function listLines(before: TreeIndex, after: TreeIndex): readonly Line[] | null {
  const about = ({ packages, rules }: TreeIndex): string => JSON.stringify([packages, rules])
  if (about(before) !== about(after)) return null
  const lines: Line[] = []
  for (const path of Object.keys(after.entries)) {
    const what = after.entries[path] ?? ''
    if (before.entries[path] !== what) lines.push([path, what])
  }
  for (const path of Object.keys(before.entries)) if (after.entries[path] === undefined) lines.push([path, null])
  return lines
}

/** A line of the journal; null when it is invalid. */
function parseLine(line: string): Line | null {
  try {
    const parsed = JSON.parse(line) as Line
    return Array.isArray(parsed) && typeof parsed[0] === 'string' ? parsed : null
  } catch {
    return null
  }
}

function readIndex(file: string): TreeIndex {
  return restoreIndex(JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as TreeIndex)
}

/** Reads a snapshot with the journal of later changes; null when there is none. */
export function loadIndex(
  snapshot: string,
  journal: string,
): { readonly index: TreeIndex; readonly journalLines: number } | null {
  if (!existsSync(snapshot)) return null
  const index = readIndex(snapshot)
  const lines = existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : []
  const entries = index.entries as Record<string, string>
  let journalLines = 0
  for (const line of lines) {
    if (line === '') continue
    // The last line of a killed server may be incomplete: its change did not happen.
    const parsed = parseLine(line)
    if (parsed === null) continue
    take(entries, parsed[0], parsed[1] ?? undefined)
    journalLines += 1
  }
  return { index, journalLines }
}

/** Writes a snapshot, on disk before this returns. */
export function writeIndex(file: string, index: TreeIndex): void {
  writeFileSync(file, gzipSync(JSON.stringify(index), { level: 1 }), { mode: 0o600, flush: true })
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
