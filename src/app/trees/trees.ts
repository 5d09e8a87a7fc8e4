import { appendFileSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
import { isLeftover, LEFTOVER_MS, sweepLeftovers } from '../../tree/write/leftovers.js'
import { findSourceCoverageFolders, LEFT_BEHIND, makeLeftoverMatcher } from '../tool-calls/ignored-paths.js'
import { KeptContents } from './kept-contents.js'
import { formatTreeName, isThere, type Line, listLines, loadIndex, take, toLines, writeIndex } from './tree-journal.js'
import { TreeMarks } from './tree-marks.js'
import { TreeTasks } from './tree-tasks.js'

const JOURNAL_LINES_MAX = 5000
/** With a longer journal, a snapshot is written: each mark has a copy of the journal. */
const MARKED_LINES_MAX = 500
/** Used instead of a phase id: the start of work on the task. */
export const WORK_BEGAN = ''

/** The expected work tree: as it was when work in it began, plus every change that an allowed call explains. */
interface ExpectedTree {
  index: TreeIndex
  journalLines: number
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
    const { journalLines } = expected
    if (journalLines > MARKED_LINES_MAX) this.#keep(tree, expected.index)
    const hasJournal = journalLines > 0 && journalLines <= MARKED_LINES_MAX
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
    const expected = this.#expected(tree)
    const was = expected?.index ?? index
    const [entries, packages] = [toPlainPaths(was.entries), toPlainPaths(was.packages)]
    for (const path of paths) {
      take(entries, path, index.entries[path])
      take(packages, path, index.packages[path])
    }
    this.#keep(tree, { ...was, entries, packages })
  }

  /** An allowed call is about to make these changes. */
  explain(tree: string, changes: readonly Change[]): void {
    const expected = this.#expected(tree)
    if (expected === null || changes.length === 0) return
    this.#append(tree, expected, changes.flatMap(toLines))
  }

  /** Records the dependencies and ignored files of a tree. Later changes than `before` do not count. */
  keepDependencies(tree: string, file: string, before: number): Promise<void> {
    return this.#indexer.keepDependencies(tree, { ...this.#dependencies(tree, file), before })
  }

  /** Dependencies and ignored files that were added or changed since the record. */
  findChangedDependencies(tree: string, file: string): Promise<readonly string[]> {
    return this.#indexer.scanDependencyChanges(tree, this.#dependencies(tree, file))
  }

  acceptDependencies(tree: string, file: string, paths: readonly string[]): Promise<void> {
    return this.#indexer.acceptDependencies(tree, { ...this.#dependencies(tree, file), paths })
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
    const { index } = look
    const isOurs = (path: string): boolean => isLeftover(path) && expected?.index.entries[path] === undefined
    const paths = Object.keys(index.entries).filter(isOurs)
    if (paths.length === 0) return look
    const swept = await sweepLeftovers(tree, {
      paths,
      before: Math.max(this.now() - LEFTOVER_MS, this.#startedAt),
      keep: (content) => this.contents.keep(content),
    })
    if (swept.length === 0) return look
    // Folders were touched by the removal.
    if (wanted.stamps || wanted.files) return this.#indexer.look(tree, ignoring, wanted)
    const isSwept = (path: string): boolean => swept.some((one) => isAtOrBelow(one, path))
    const entries = toPlainPaths(Object.fromEntries(Object.entries(index.entries).filter(([path]) => !isSwept(path))))
    return { ...look, index: { ...index, entries } }
  }

  #expected(tree: string): ExpectedTree | null {
    const known = this.#known.get(tree)
    if (known !== undefined) return known
    const loaded = loadIndex(this.#snapshot(tree), this.#journal(tree))
    // Another node may record a tree that this one does not know, and be adopted.
    if (loaded !== null || this.fence === NO_FENCE) this.#known.set(tree, loaded)
    return loaded
  }

  #keep(tree: string, index: TreeIndex): void {
    this.fence.requireHeld()
    mkdirSync(this.dir, { recursive: true, mode: 0o700 })
    const file = this.#snapshot(tree)
    writeIndex(`${file}.new`, index)
    writeFileSync(this.#journal(tree), '', { mode: 0o600 })
    renameSync(`${file}.new`, file)
    this.#known.set(tree, { index, journalLines: 0 })
  }

  #append(tree: string, expected: ExpectedTree, lines: readonly Line[]): void {
    if (lines.length === 0) return
    this.fence.requireHeld()
    const entries = expected.index.entries as Record<string, string>
    for (const [path, what] of lines) take(entries, path, what ?? undefined)
    if (lines.some(([path]) => path.includes('coverage'))) delete expected.sources
    const file = openSync(this.#journal(tree), 'a', 0o600)
    try {
      appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    expected.journalLines += lines.length
    if (expected.journalLines > JOURNAL_LINES_MAX) this.#keep(tree, expected.index)
  }

  #dependencies(tree: string, file: string) {
    return { file, rules: this.getIgnoreRules(tree), also: LEFT_BEHIND }
  }

  #snapshot(tree: string): string {
    return join(this.dir, `${formatTreeName(tree)}.json.gz`)
  }

  #journal(tree: string): string {
    return join(this.dir, `${formatTreeName(tree)}.journal`)
  }
}

function formatMark(tree: string, taskId: string, moment: string): string {
  return [tree, taskId, moment].map(formatTreeName).join('-')
}
