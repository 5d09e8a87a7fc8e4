import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  findInlineDifference,
  formatInlineDifference,
  formatInlineKey,
  INLINE_LOOKED_FOR,
  isRust,
  NO_INLINE_TESTS,
  parseInlineKey,
  replaceTests,
} from '../../checks/test-files/inline-tests.js'
import { readText } from '../../checks/test-files/test-files.js'
import type { ViewEntry } from '../../confinement/confinement.js'
import type { TaskState } from '../../core/task/state.js'
import { NOT_THE_PROJECT, type WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'

/** Changes to the view for files that contain both tests and code. */
interface InlineView {
  /** Files in which the tests of RED replace the current ones. */
  readonly put: readonly ViewEntry[]
  /** Newer tests that are not in the view, for display. */
  readonly late: readonly string[]
  /** Descriptions of what differs from the record of RED. */
  readonly moved: readonly string[]
  /** Files that are recorded in part. */
  readonly files: readonly string[]
}

const NOTHING: InlineView = { put: [], late: [], moved: [], files: [] }

/** Compares the tests inside source files with the record of RED. Tasks of an older version have no such records. */
export async function buildInlineView(
  app: Pick<App, 'views'>,
  state: TaskState,
  about: {
    readonly tree: WorkTree
    readonly pins: ReadonlyMap<string, string> | null
    readonly isIgnored: (path: string) => boolean
  },
): Promise<InlineView> {
  const { tree, pins, isIgnored } = about
  if (pins?.has(INLINE_LOOKED_FOR) !== true) return NOTHING
  const put: ViewEntry[] = []
  const late: string[] = []
  const moved: string[] = []
  const isThere = new Set<string>()
  for (const { path, isLink } of await tree.list(NOT_THE_PROJECT)) {
    if (isLink || !isRust(path) || pins.has(path) || isIgnored(path)) continue
    isThere.add(path)
    const hash = pins.get(formatInlineKey(path))
    const recorded = hash === undefined ? NO_INLINE_TESTS : app.views.findInlineTests(state.id, hash)
    if (recorded === null) throw new Error(`the tests that ${path} contained at RED were not saved`)
    const text = (await readText(tree, path)) ?? ''
    const difference = await findInlineDifference(path, text, recorded)
    if (difference === null) continue
    const words = formatInlineDifference(path, difference)
    if (words !== null) moved.push(words)
    late.push(...difference.late.map((name) => `${path} (${name})`))
    if (difference.composed === null) throw new Error(`${path} has no place left for tests that it contained at RED`)
    const mode = statSync(join(state.workspace, path)).mode & 0o777
    put.push({ path, type: 'file', content: Buffer.from(difference.composed), mode })
  }
  const files = [...pins.keys()].flatMap((key) => parseInlineKey(key) ?? []).filter((path) => path !== '')
  for (const path of files) if (!isThere.has(path)) moved.push(`${path} (deleted, and it contained tests)`)
  return { put, late, moved, files: files.filter((path) => isThere.has(path)) }
}

/** The record without partially recorded files. */
export function omitInlineTests(pins: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...pins].filter(([key]) => parseInlineKey(key) === null))
}

/** Code of another time combined with the current tests of its files. */
export async function addInlineTests(tree: WorkTree, put: readonly ViewEntry[]): Promise<readonly ViewEntry[]> {
  const all: ViewEntry[] = []
  for (const entry of put) {
    const now = entry.type === 'file' && isRust(entry.path) ? await readText(tree, entry.path) : null
    const text =
      now === null || entry.type !== 'file' ? null : await replaceTests(entry.path, String(entry.content), now)
    all.push(text === null || entry.type !== 'file' ? entry : { ...entry, content: Buffer.from(text) })
  }
  return all
}
