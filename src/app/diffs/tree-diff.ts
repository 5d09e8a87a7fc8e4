import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { listDifferences, type TreeIndex } from '../../tree/tree-contents.js'
import type { Resources } from '../resources.js'
import { type EntryContent, EntryContents } from './entry-contents.js'
import { buildHunks, countLines, type DiffBudget, decodeText, type Hunk } from './file-diff.js'
import { findOtherTasks } from './other-tasks.js'

const FILES_SHOWN_MAX = 300
const FILES_LISTED_MAX = 10_000
const ALL_CHARS_MAX = 2 * 1024 * 1024
const ALL_BYTES_READ_MAX = 16 * 1024 * 1024
const FILE_BYTES_MAX = 1024 * 1024
/** One file that was asked for alone. */
const ONE_FILE_BYTES_MAX = 4 * 1024 * 1024
const DIFF_STEPS_MAX = 8_000_000

/** Why the lines of a changed file are not shown. */
type Omitted = 'binary' | 'too_large' | 'too_many_files' | 'secret' | 'not_kept'

export interface FileDiff {
  readonly path: string
  readonly status: 'added' | 'modified' | 'deleted'
  readonly binary: boolean
  readonly additions: number
  readonly deletions: number
  readonly unexplained: boolean
  /** Another task changed it since work on this one began, and this one did not; null: no other. */
  readonly other_task: string | null
  readonly pinned: boolean
  readonly hunks: readonly Hunk[]
  readonly omitted: Omitted | null
}

export interface TreeDiff {
  readonly files: readonly FileDiff[]
  readonly totals: { readonly files: number; readonly additions: number; readonly deletions: number }
  readonly truncated: boolean
}

export interface TreesCompared {
  readonly state: TaskState
  readonly before: TreeIndex
  readonly after: TreeIndex
  /** Paths that differ from what allowed calls explain. */
  readonly unexplained: ReadonlySet<string>
  /** Paths that the caller may not see. */
  readonly isHidden?: (path: string) => boolean
  /** Only this path, within a larger bound; null: all. */
  readonly path: string | null
}

/** What changed between two trees, with the lines that changed: bounded, without secrets, never through a link. */
export async function diffTrees(
  app: Pick<Resources, 'ledger' | 'trees' | 'confinement' | 'redact'>,
  compared: TreesCompared,
): Promise<TreeDiff> {
  const { state, before, after, unexplained, path, isHidden = () => false } = compared
  const isOne = path !== null
  const fileBytes = isOne ? ONE_FILE_BYTES_MAX : FILE_BYTES_MAX
  const contents = new EntryContents(app, state, fileBytes)
  const room = { chars: isOne ? 2 * ONE_FILE_BYTES_MAX : ALL_CHARS_MAX, bytes: ALL_BYTES_READ_MAX, shown: 0 }
  const budget: DiffBudget = { steps: DIFF_STEPS_MAX }
  const changed = listDifferences({ ...before, packages: {} }, { ...after, packages: {} }).filter(
    (one) => !isHidden(one.path) && (!isOne || one.path === path),
  )
  const shown = changed.slice(0, FILES_LISTED_MAX)
  const others = await findOtherTasks(
    app,
    state,
    shown.map((one) => one.path),
  )
  const files: FileDiff[] = []
  for (const { path: at, kind } of shown) {
    const about = {
      path: app.redact(at) as string,
      status: STATUSES[kind],
      unexplained: unexplained.has(at),
      other_task: unexplained.has(at) ? null : (others.get(at) ?? null),
      pinned: state.pinnedTests?.has(at) === true,
    }
    if (room.shown >= FILES_SHOWN_MAX || room.bytes <= 0 || room.chars <= 0) {
      files.push({ ...about, ...NOTHING_SHOWN, omitted: 'too_many_files' })
      continue
    }
    const texts = [await contents.read(at, before.entries[at]), await contents.read(at, after.entries[at])] as const
    for (const text of texts) room.bytes -= typeof text === 'string' ? 0 : text.length
    const lines = compareContents(app, texts, budget)
    const chars = lines.hunks.reduce((sum, { lines }) => sum + lines.reduce((all, line) => all + line.length, 0), 0)
    const fits = chars <= room.chars
    if (fits) room.chars -= chars
    files.push({ ...about, ...(fits ? lines : { ...lines, hunks: [], omitted: 'too_large' as const }) })
    room.shown += 1
    // Other calls get their turn between two files.
    await nextTurn()
  }
  const sum = (name: 'additions' | 'deletions'): number => files.reduce((all, file) => all + file[name], 0)
  return {
    files,
    totals: { files: changed.length, additions: sum('additions'), deletions: sum('deletions') },
    truncated: changed.length > files.length || files.some(({ omitted }) => omitted !== null && CUT.has(omitted)),
  }
}

const STATUSES = { created: 'added', modified: 'modified', deleted: 'deleted' } as const
const CUT: ReadonlySet<Omitted> = new Set(['too_large', 'too_many_files', 'not_kept'] as const)
const NOTHING_SHOWN = { binary: false, additions: 0, deletions: 0, hunks: [] } as const

type Compared = Pick<FileDiff, 'binary' | 'additions' | 'deletions' | 'hunks' | 'omitted'>

function compareContents(
  app: Pick<Resources, 'redact'>,
  [before, after]: readonly [EntryContent, EntryContent],
  budget: DiffBudget,
): Compared {
  if (typeof before === 'string' || typeof after === 'string') {
    const isLarge = before === 'too_large' || after === 'too_large'
    return { ...NOTHING_SHOWN, omitted: isLarge ? 'too_large' : 'not_kept' }
  }
  const texts = [decodeText(before), decodeText(after)] as const
  if (texts[0] === null || texts[1] === null) return { ...NOTHING_SHOWN, binary: true, omitted: 'binary' }
  // Whole texts, because a key may span many lines.
  const was = app.redact(texts[0]) as string
  const is = app.redact(texts[1]) as string
  if (was === is) return { ...NOTHING_SHOWN, omitted: texts[0] === texts[1] ? null : 'secret' }
  const hunks = buildHunks(was, is, budget)
  return { binary: false, ...countLines(hunks), hunks, omitted: null }
}

export function toDiffView(diff: TreeDiff): JsonObject {
  return { ...(diff as unknown as JsonObject), available: true, unavailable_reason: null }
}

/** A diff that cannot be shown, and why. */
export function makeUnavailable(reason: string): JsonObject {
  const totals = { files: 0, additions: 0, deletions: 0 }
  return { files: [], totals, truncated: false, available: false, unavailable_reason: reason }
}
