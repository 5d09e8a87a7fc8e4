import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makeDirectory, readFileIfPresent, syncDirectory } from '../../base/atomic-file.js'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import { RUNNER_NAME } from '../../checks/test-files/runner-imports.js'
import { NO_FENCE, type TreeFence } from '../../store/shared-trees/tree-fence.js'
import type { Change } from '../../tree/change.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import type { Fingerprint } from '../../tree/fingerprint.js'
import type { IgnoreText } from '../../tree/ignore-rules.js'
import { INDEX_ONLY, Indexer, type TreeLook, type Wanted } from '../../tree/indexer.js'
import { toPlainPaths } from '../../tree/only-paths.js'
import type { ProjectFiles } from '../../tree/project-files.js'
import type { Stamps } from '../../tree/stamps.js'
import { type Difference, listDifferences, type TreeIndex } from '../../tree/tree-contents.js'
import { listTemporaryNames } from '../../tree/write/change-plan.js'
import { isLeftover, LEFTOVER_MS, sweepLeftovers } from '../../tree/write/leftovers.js'
import { findSourceCoverageFolders, LEFT_BEHIND, makeLeftoverMatcher } from '../tool-calls/ignored-paths.js'
import { KeptContents } from './kept-contents.js'
import {
  appendToJournal,
  applyLines,
  type BegunChange,
  formatLines,
  formatTreeName,
  isThere,
  type Line,
  listLines,
  readJournal,
  readSnapshot,
  take,
  toLines,
  writeSnapshot,
} from './tree-journal.js'
import { TreeMarks } from './tree-marks.js'
import { TreeTasks } from './tree-tasks.js'

const JOURNAL_LINES_MAX = 5000
const JOURNAL_CHARS_MAX = 8 * 1024 * 1024
/** With a longer journal, a snapshot is written: each mark has a copy of the journal. */
const MARKED_LINES_MAX = 500
const MARKED_CHARS_MAX = 512 * 1024
const RECENT_MAX = 16
const RECENT_STEPS_MAX = 2000
/** Used instead of a phase id: the start of work on the task. */
export const WORK_BEGAN = ''

/** A path with its entry and its package; null: it has none. */
export type Accepted = readonly [path: string, entry: string | null, installed: string | null]

/** The expected work tree: as it was when work in it began, plus every change that an allowed call explains. */
interface ExpectedTree {
  index: TreeIndex
  generation: number
  journalLines: number
  journalChars: number
  /** Computed on first use. */
  sources?: ReadonlySet<string>
}

export interface TreeComparison {
  readonly differences: readonly Difference[]
  readonly index: TreeIndex
  /** Whether a path is left behind by tools, which never counts. */
  readonly isLeft: (path: string) => boolean
  /** Null: not asked for. */
  readonly fingerprint: Fingerprint | null
  /** Null: not asked for. */
  readonly stamps: Stamps | null
  /** Null: not asked for, or not to be had. */
  readonly files: ProjectFiles | null
  /** Files that may name the module of a test runner. Others of the index do not. */
  readonly namesRunner: ReadonlySet<string>
}

/**
 * The expected contents of every work tree. Stored in the state directory as a snapshot and a journal of later allowed
 * changes, written before the change reaches the tree.
 */
export class Trees {
  readonly #known = new Map<string, ExpectedTree | null>()
  /** Changes that are being made, by tree. */
  readonly #open = new Map<string, BegunChange>()
  /** Changes that ended a moment ago. */
  readonly #recent = new Map<string, readonly BegunChange[]>()
  readonly #marks: TreeMarks
  readonly #indexer = new Indexer(RUNNER_NAME)
  // Temporary files older than the server do not belong to one of its commits.
  readonly #startedAt = Date.now()
  /** Stored contents of files. */
  readonly contents: KeptContents
  readonly tasks: TreeTasks

  constructor(
    private readonly dir: string,
    private readonly now: () => number = Date.now,
    readonly excludesOf: (tree: string) => Promise<string> = async () => '',
    private readonly fence: TreeFence = NO_FENCE,
  ) {
    this.contents = new KeptContents(join(dir, 'objects'))
    this.#marks = new TreeMarks(dir)
    this.tasks = new TreeTasks(dir)
  }

  /** Starts again: the current tree is the expected one. For unfinished tasks, what no call explained stays so. */
  async begin(tree: string, unfinished: readonly string[] = []): Promise<void> {
    const { index } = await this.#look(tree, null)
    await this.fence.run(async () => {
      const before = this.#expected(tree)?.index ?? index
      this.tasks.keepOpen(tree, unfinished, before, { index, differences: this.#listCounted(tree, before, index) })
      this.#keep(tree, index)
    })
  }

  isKnown(tree: string): boolean {
    return this.#expected(tree) !== null
  }

  /**
   * Differences from the expected tree. A tree without a snapshot is recorded now and counts as expected. With
   * `except` also the fingerprint of the project, except for these files.
   */
  async compare(
    tree: string,
    { except = null, ...more }: Partial<Omit<Wanted, 'except'>> & { readonly except?: Iterable<string> | null } = {},
  ): Promise<TreeComparison> {
    const expected = this.#expected(tree)
    const wanted = { ...INDEX_ONLY, ...more, except: except === null ? null : [...except] }
    const { noted, ...look } = await this.#look(tree, expected, wanted)
    const { index } = look
    const differences = expected === null ? [] : this.#listCounted(tree, expected.index, index)
    return { ...look, differences, isLeft: this.#makeLeftMatcher(tree), namesRunner: new Set(noted) }
  }

  /** Stores the tree of a moment, such as the entry of a phase: the expected one, or the given one where it differs. */
  mark(tree: string, taskId: string, moment: string, now: TreeIndex | null = null): void {
    const expected = this.#expected(tree)
    if (expected === null) return
    this.fence.requireHeld()
    const name = formatMark(tree, taskId, moment)
    if (now !== null && listDifferences(expected.index, now).length > 0) {
      this.#marks.write(name, now)
      return
    }
    const { journalLines, journalChars } = expected
    const isLong = journalLines > MARKED_LINES_MAX || journalChars > MARKED_CHARS_MAX
    if (isLong) this.#keep(tree, expected.index)
    const hasJournal = journalLines > 0 && !isLong
    this.#marks.link(name, this.#snapshot(tree), hasJournal ? this.#journal(tree) : null)
  }

  /** The tree of a moment, such as the task's newest entry of a phase; null when unknown. */
  readMark(tree: string, taskId: string, moment: string): TreeIndex | null {
    return this.#marks.read(formatMark(tree, taskId, moment))
  }

  /** What was ignored when work in the tree began. */
  getIgnoreRules(tree: string): readonly IgnoreText[] {
    return this.#expected(tree)?.index.rules ?? []
  }

  /** Whether a folder with the name of a report folder contains parts of the project. */
  isSource(tree: string, folder: string): boolean {
    const expected = this.#expected(tree)
    if (expected === null) return false
    expected.sources ??= findSourceCoverageFolders(Object.keys(expected.index.entries))
    return expected.sources.has(folder)
  }

  /** The expected hash of a file; null when no file is expected, or it is unknown. */
  findExpectedHash(tree: string, path: string): string | null {
    return findFileHash(this.#expected(tree)?.index.entries[path])
  }

  /** The expected entry of a path, in the notation of `TreeIndex`; null: none, or unknown. */
  findExpectedEntry(tree: string, path: string): string | null {
    return this.#expected(tree)?.index.entries[path] ?? null
  }

  /** The expected entries of all paths; null when unknown. */
  findExpectedEntries(tree: string): TreeIndex['entries'] | null {
    return this.#expected(tree)?.index.entries ?? null
  }

  /** Accepts the current tree. */
  settle(tree: string, index: TreeIndex): void {
    const expected = this.#expected(tree)
    const known = expected?.index.entries ?? toPlainPaths({})
    const isTaken = (path: string): boolean => known[path] !== undefined || !isLeftover(path)
    const lines = expected === null ? null : listLines(expected.index, index)
    if (expected === null || lines === null) {
      const entries = toPlainPaths(index.entries)
      for (const path of Object.keys(entries)) if (!isTaken(path)) delete entries[path]
      this.#keep(tree, { ...index, entries })
    } else {
      // A snapshot takes long to write, and nearly all of it would be as it was.
      const taken = lines.filter(([path]) => isTaken(path))
      this.#append(tree, expected, taken)
    }
  }

  /** Accepts the current content of some paths. */
  accept(tree: string, index: TreeIndex, paths: readonly string[]): void {
    if (!this.isKnown(tree)) this.#keep(tree, index)
    const read = (path: string): Accepted => [path, index.entries[path] ?? null, index.packages[path] ?? null]
    this.acceptEntries(tree, paths.map(read))
  }

  /** Expects these entries and packages from now on. */
  acceptEntries(tree: string, accepted: readonly Accepted[]): void {
    const expected = this.#expected(tree)
    if (expected === null) return
    const { index } = expected
    const [entries, packages] = [toPlainPaths(index.entries), toPlainPaths(index.packages)]
    for (const [path, entry, version] of accepted) {
      take(entries, path, entry ?? undefined)
      take(packages, path, version ?? undefined)
    }
    this.#keep(tree, { ...index, entries, packages })
  }

  /** An allowed call is about to make these changes. */
  explain(tree: string, changes: readonly Change[]): void {
    const expected = this.#expected(tree)
    if (expected === null || changes.length === 0) return
    this.#append(tree, expected, changes.flatMap(toLines))
  }

  /** What the tree is expected to hold after these changes, and what it is now: the lines that a change begins with. */
  planLines(tree: string, changes: readonly Change[]): Pick<BegunChange, 'lines' | 'before'> {
    return this.planEntries(tree, changes.flatMap(toLines))
  }

  /** The same for entries. */
  planEntries(tree: string, lines: readonly Line[]): Pick<BegunChange, 'lines' | 'before'> {
    const entries = this.#expected(tree)?.index.entries ?? null
    if (entries === null) return { lines: [], before: [] }
    return { lines, before: lines.map(([path]) => [path, entries[path] ?? null]) }
  }

  /**
   * A change begins, before any path of the tree is touched. `isReady`: it is on disk before this returns; until then
   * there are only temporary files, which would be found after a power failure as well.
   */
  beginChange(change: BegunChange, isReady: boolean): void {
    this.fence.requireHeld()
    makeDirectory(this.dir)
    const expected = this.#expected(change.tree)
    const text = formatLines([{ began: change }])
    appendToJournal(this.#journal(change.tree), text, { isSynced: isReady })
    this.#open.set(change.tree, change)
    if (expected === null) return
    expected.journalChars += text.length
    this.#take(expected, change.lines)
  }

  /** A change has happened, or was taken back: then the tree is expected as before. */
  endChange(change: BegunChange, end: 'happened' | 'undone'): void {
    const { id, tree, before, lines } = change
    this.fence.requireHeld()
    this.#noteEnded(change)
    const expected = this.#expected(tree)
    if (expected === null) {
      // Nothing is expected of the tree: the journal held this change alone.
      rmSync(this.#journal(tree), { force: true })
      this.#open.delete(tree)
      return
    }
    // The tree may have been recorded again while the change was made.
    const isMissing = ([path, what]: Line): boolean => (expected.index.entries[path] ?? null) !== what
    const settled = end === 'undone' ? before : lines.filter(isMissing)
    // Not synced when it happened: without this line the ledger is asked again, with the same result.
    const isSynced = settled.length > 0
    appendToJournal(this.#journal(tree), formatLines([...settled, { ended: id }]), { isSynced })
    this.#open.delete(tree)
    this.#take(expected, settled)
    expected.journalLines += lines.length + 1
    if (isTooLong(expected)) this.#keep(tree, expected.index)
  }

  /** The change of a tree that has begun and not ended, perhaps in another process. */
  findOpenChange(tree: string): BegunChange | null {
    if (this.#open.has(tree) || this.#known.has(tree)) return this.#open.get(tree) ?? null
    return this.readOpenChange(tree)
  }

  /** The same as it is on disk. */
  readOpenChange(tree: string): BegunChange | null {
    const { open } = readJournal(join(this.dir, this.#findJournalName(tree)))
    if (open === null) this.#open.delete(tree)
    else this.#open.set(tree, open)
    return open
  }

  /** The changes that a killed server left open, of any node. */
  loadOpenChanges(): readonly BegunChange[] {
    const names = listNames(this.dir).filter((name) => JOURNAL.test(name))
    const open = names.flatMap((name) => {
      const found = readJournal(join(this.dir, name)).open
      return found !== null && name === this.#findJournalName(found.tree) ? [found] : []
    })
    return open
  }

  /** Records the dependencies and ignored files of a tree. Later changes than `before` do not count. */
  keepDependencies(tree: string, file: string, before: number): Promise<void> {
    return this.#indexer.keepDependencies(tree, { ...this.#dependencies(tree, file), before })
  }

  /** Dependencies and ignored files that were added or changed since the record. */
  findChangedDependencies(tree: string, file: string): Promise<readonly string[]> {
    return this.#indexer.scanDependencyChanges(tree, this.#dependencies(tree, file))
  }

  /** Records these paths as they are. Later changes than `before` do not count. */
  acceptDependencies(
    tree: string,
    file: string,
    { paths, before }: { readonly paths: readonly string[]; readonly before: number },
  ): Promise<void> {
    return this.#indexer.acceptDependencies(tree, { ...this.#dependencies(tree, file), paths, before })
  }

  /** The announced changes did not happen: expect these paths as they are. */
  async acceptAsIs(tree: string, paths: readonly string[]): Promise<void> {
    this.accept(tree, (await this.compare(tree)).index, paths)
  }

  close(): Promise<void> {
    return this.#indexer.close()
  }

  #makeLeftMatcher(tree: string): (path: string) => boolean {
    const left = makeLeftoverMatcher((folder) => this.isSource(tree, folder))
    return (path) => left(path, false)
  }

  #listCounted(tree: string, before: TreeIndex, after: TreeIndex): readonly Difference[] {
    const isLeft = this.#makeLeftMatcher(tree)
    // A file that a call wrote and the rules ignore exists, but is not compared.
    return listDifferences(before, after).filter(
      ({ path, kind }) => (kind !== 'deleted' || !isThere(tree, path)) && !isLeft(path),
    )
  }

  // First removes what a killed commit left behind, which counts as nobody's change.
  async #look(tree: string, expected: ExpectedTree | null, wanted = INDEX_ONLY): Promise<TreeLook> {
    const excludes = expected === null ? await this.excludesOf(tree) : ''
    const ignoring = { rules: expected?.index.rules ?? null, excludes }
    const look = await this.#indexer.look(tree, ignoring, wanted)
    const isOurs = (path: string): boolean => isLeftover(path) && expected?.index.entries[path] === undefined
    const found = Object.keys(look.index.entries).filter(isOurs)
    if (found.length === 0) return look
    // What a change needs until it has ended is nobody's change, and is not removed.
    const isNeeded = this.#makeTemporaryMatcher(tree)
    const index = omitEntries(look.index, isNeeded)
    const paths = found.filter((path) => !isNeeded(path))
    if (paths.length === 0) return { ...look, index }
    const swept = await sweepLeftovers(tree, {
      paths,
      before: Math.max(this.now() - LEFTOVER_MS, this.#startedAt),
      keep: (content) => this.contents.keep(content),
    })
    if (swept.length === 0) return { ...look, index }
    // Folders were touched by the removal.
    if (wanted.stamps || wanted.files) {
      const again = await this.#indexer.look(tree, ignoring, wanted)
      return { ...again, index: omitEntries(again.index, isNeeded) }
    }
    return { ...look, index: omitEntries(index, (path) => swept.some((one) => isAtOrBelow(one, path))) }
  }

  /** Whether a path is, or is in, a temporary entry of a change that is made now, or was made a moment ago. */
  #makeTemporaryMatcher(tree: string): (path: string) => boolean {
    const plans = [this.#open.get(tree), ...(this.#recent.get(tree) ?? [])].flatMap((change) => change?.plan ?? [])
    const names = new Set(plans.flatMap((plan) => [...listTemporaryNames(plan)]))
    return (path) => path.includes('.phaselock-') && path.split('/').some((name) => names.has(name))
  }

  // A look that began before a change ended may have seen its temporary entries.
  #noteEnded(change: BegunChange): void {
    const recent = this.#recent.get(change.tree) ?? []
    if ((change.plan?.steps.length ?? 0) <= RECENT_STEPS_MAX)
      this.#recent.set(change.tree, [change, ...recent].slice(0, RECENT_MAX))
  }

  #expected(tree: string): ExpectedTree | null {
    const known = this.#known.get(tree)
    if (known !== undefined) return known
    const loaded = this.#load(tree)
    // Another node may record a tree that this one does not know, and be adopted.
    if (loaded !== null || this.fence === NO_FENCE) this.#known.set(tree, loaded)
    return loaded
  }

  #load(tree: string): ExpectedTree | null {
    const snapshot = readSnapshot(this.#snapshot(tree))
    if (snapshot === null) return null
    const { index, generation } = snapshot
    const journal = this.#journalOf(tree, generation)
    const { lines } = readJournal(journal)
    applyLines(index, lines)
    endLastLine(journal)
    const journalChars = statSync(journal, { throwIfNoEntry: false })?.size ?? 0
    return { index, generation, journalLines: lines.length, journalChars }
  }

  // A killed server leaves the old snapshot with its journal or the new one with its own: nothing that was explained is
  // lost between the two.
  #keep(tree: string, index: TreeIndex): void {
    this.fence.requireHeld()
    makeDirectory(this.dir)
    const before = this.#journal(tree)
    const generation = this.#generation(tree) + 1
    const open = this.#open.get(tree)
    const text = open === undefined ? '' : formatLines([{ began: open }])
    writeFileSync(this.#journalOf(tree, generation), text, { mode: 0o600, flush: true })
    const file = this.#snapshot(tree)
    writeSnapshot(`${file}.new`, { index, generation })
    renameSync(`${file}.new`, file)
    syncDirectory(this.dir)
    this.#known.set(tree, { index, generation, journalLines: 0, journalChars: text.length })
    rmSync(before, { force: true })
  }

  #append(tree: string, expected: ExpectedTree, lines: readonly Line[]): void {
    if (lines.length === 0) return
    this.fence.requireHeld()
    this.#take(expected, lines)
    appendToJournal(this.#journal(tree), formatLines(lines), { isSynced: true })
    expected.journalLines += lines.length
    if (isTooLong(expected)) this.#keep(tree, expected.index)
  }

  #take(expected: ExpectedTree, lines: readonly Line[]): void {
    applyLines(expected.index, lines)
    if (lines.some(([path]) => path.includes('coverage'))) delete expected.sources
  }

  #dependencies(tree: string, file: string) {
    return { file, rules: this.getIgnoreRules(tree), also: LEFT_BEHIND }
  }

  #snapshot(tree: string): string {
    return join(this.dir, `${formatTreeName(tree)}.json.gz`)
  }

  #journal(tree: string): string {
    return this.#journalOf(tree, this.#generation(tree))
  }

  // Read afresh: the tree may be another node's.
  #findJournalName(tree: string): string {
    return basename(this.#journalOf(tree, readSnapshot(this.#snapshot(tree))?.generation ?? 0))
  }

  #generation(tree: string): number {
    return this.#expected(tree)?.generation ?? 0
  }

  #journalOf(tree: string, generation: number): string {
    return join(this.dir, `${formatTreeName(tree)}${generation === 0 ? '' : `.${generation}`}.journal`)
  }
}

function isTooLong({ journalLines, journalChars }: ExpectedTree): boolean {
  return journalLines > JOURNAL_LINES_MAX || journalChars > JOURNAL_CHARS_MAX
}

function omitEntries(index: TreeIndex, isOmitted: (path: string) => boolean): TreeIndex {
  const entries = Object.entries(index.entries).filter(([path]) => !isOmitted(path))
  return { ...index, entries: toPlainPaths(Object.fromEntries(entries)) }
}

const JOURNAL = /^[0-9a-f]+(?:\.\d+)?\.journal$/

function listNames(dir: string): readonly string[] {
  return existsSync(dir) ? readdirSync(dir) : []
}

// The next line must not continue an incomplete one.
function endLastLine(journal: string): void {
  const text = readFileIfPresent(journal)
  if (text !== null && text.length > 0 && text.at(-1) !== NEWLINE) appendToJournal(journal, '\n', { isSynced: false })
}

const NEWLINE = 0x0a

function formatMark(tree: string, taskId: string, moment: string): string {
  return [tree, taskId, moment].map(formatTreeName).join('-')
}
