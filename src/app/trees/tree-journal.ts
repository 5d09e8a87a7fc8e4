import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sha256Hex } from '../../base/sha256.js'
import type { JsonObject } from '../../core/json.js'
import type { Change } from '../../tree/change.js'
import { restoreIndex } from '../../tree/only-paths.js'
import { ANY_LINK, type TreeIndex } from '../../tree/tree-contents.js'
import type { ChangePlan } from '../../tree/write/change-plan.js'

/** A path and its content after an allowed call; null: deleted. */
export type Line = readonly [path: string, what: string | null]

/**
 * A change that is being made, written before anything in the tree is touched. It is open until a later line of the
 * journal says how it ended: a server that was killed meanwhile asks the ledger whether it happened.
 */
export interface BegunChange {
  /** The event that records the change names it. */
  readonly id: string
  readonly tree: string
  readonly taskId: string
  /** The version of the task before that event. */
  readonly version: number
  /** What the tree is expected to hold afterwards, and what it was before. */
  readonly lines: readonly Line[]
  readonly before: readonly Line[]
  /** When the tree was written, in ms; only known where it is needed. */
  readonly madeAt?: number
  /** How the change is taken back or finished; null: the tree itself is not changed. */
  readonly plan: ChangePlan | null
  /** What else belongs to the change, once it has happened. */
  readonly follow: JsonObject
}

type JournalEntry = { readonly line: Line } | { readonly began: BegunChange } | { readonly ended: string }
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

/** The journal entries of a change that is planned. */
export function toPlannedLines({ steps }: ChangePlan): readonly Line[] {
  return steps.flatMap(({ type, path, becomes }): readonly Line[] => {
    if (NOT_COMPARED.test(path) || type === 'make_directory' || becomes === undefined) return []
    return [[path, type === 'make_link' ? ANY_LINK : `file ${becomes}`]]
  })
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
function parseLine(text: string): JournalEntry | null {
  try {
    const parsed = JSON.parse(text) as Line | { readonly began?: BegunChange; readonly ended?: string }
    if (Array.isArray(parsed)) return typeof parsed[0] === 'string' ? { line: parsed as Line } : null
    const { began, ended } = parsed as { readonly began?: BegunChange; readonly ended?: string }
    if (began !== undefined) return { began }
    return ended === undefined ? null : { ended }
  } catch {
    return null
  }
}

interface Snapshot {
  readonly index: TreeIndex
  /** Which journal continues it. */
  readonly generation: number
}

/** A snapshot; null when there is none. */
export function readSnapshot(file: string): Snapshot | null {
  if (!existsSync(file)) return null
  const { generation = 0, ...index } = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as TreeIndex & {
    readonly generation?: number
  }
  return { index: restoreIndex(index), generation }
}

/** What a journal says: changes of entries in their order, how many they are, and the change that is open. */
export function readJournal(file: string): { readonly lines: readonly Line[]; readonly open: BegunChange | null } {
  const lines: Line[] = []
  let open = null as BegunChange | null
  // The last line of a killed server may be incomplete: its change did not happen.
  for (const text of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const entry = text === '' ? null : parseLine(text)
    if (entry === null) continue
    if ('line' in entry) lines.push(entry.line)
    else if ('ended' in entry) open = open?.id === entry.ended ? null : open
    else {
      open = entry.began
      lines.push(...entry.began.lines)
    }
  }
  return { lines, open }
}

/** Applies lines of a journal to an index, in place. */
export function applyLines(index: TreeIndex, lines: readonly Line[]): void {
  const entries = index.entries as Record<string, string>
  for (const [path, what] of lines) take(entries, path, what ?? undefined)
}

export function formatLines(
  lines: readonly (Line | { readonly began: BegunChange } | { readonly ended: string })[],
): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Adds to a journal, on disk before this returns if that is asked for. */
export function appendToJournal(file: string, text: string, { isSynced }: { readonly isSynced: boolean }): void {
  const handle = openSync(file, 'a', 0o600)
  const { size } = fstatSync(handle)
  try {
    appendFileSync(handle, text)
    if (isSynced) fsyncSync(handle)
  } catch (error) {
    // On a full disk a part of it may be there: the next line must not continue it.
    ftruncateSync(handle, size)
    throw error
  } finally {
    closeSync(handle)
  }
}

/** Writes a snapshot, on disk before this returns. */
export function writeSnapshot(file: string, { index, generation }: Snapshot): void {
  const text = JSON.stringify(generation === 0 ? index : { ...index, generation })
  writeFileSync(file, gzipSync(text, { level: 1 }), { mode: 0o600, flush: true })
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
