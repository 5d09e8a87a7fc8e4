import { createHash } from 'node:crypto'
import { closeSync, existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, readlink, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory, writeFileAtomically } from '../../base/atomic-file.js'
import { sha256Hex } from '../../base/sha256.js'
import { buildInlineRecord, type InlineTests, parseInlineKey } from '../../checks/test-files/inline-tests.js'
import type { ViewEntry } from '../../confinement/confinement.js'
import type { TaskState } from '../../core/task/state.js'
import { NO_FENCE, type TreeFence } from '../../store/shared-trees/tree-fence.js'
import { openFile } from '../../tree/lookup.js'
import { readChunks } from '../../tree/read-bytes.js'
import { openWorkTree } from '../../tree/work-tree.js'
import { isTargetInside } from '../../tree/write/tree-steps.js'
import type { Trees } from '../trees/trees.js'

const PINNED_BYTES_MAX = 1024 ** 3
const MODE_MASK = 0o777
const TASK = 'task'
const OBJECTS = 'objects'
const PINS = 'pins.json'
const AGAIN = 'red-again.json'
const EARLIER = 'earlier-changes.json'
const DEPENDENCIES = 'dependencies.json.gz'
const REMOVED = { recursive: true, force: true } as const

export type PinnedFiles = Readonly<Record<string, string>>

/** Contents at paths that differed from the last commit when work began: a hash, or null for none. */
export type EarlierChanges = readonly (readonly [string, string | null])[]

/** Metadata of a pinned file. */
type Pin = { readonly mode: number } | { readonly link: string } | { readonly inline: string }
type Pins = Record<string, Pin>

/**
 * The parts of the views of observed runs, one folder per task: the contents of pinned files, and the state of
 * dependencies and ignored files when work began. Removed with the task.
 */
export class TaskViews {
  readonly #beginning = new Map<string, Promise<void>>()

  constructor(
    private readonly dir: string,
    private readonly trees: Trees,
    private readonly fence: TreeFence = NO_FENCE,
  ) {}

  /**
   * Work on a task begins. Large trees are listed in the background: changes after `now` count as changes either way.
   */
  begin(taskId: string, tree: string, now: number): void {
    this.#mark(taskId)
    const kept = this.trees.keepDependencies(tree, this.#file(taskId, DEPENDENCIES), now)
    this.#beginning.set(taskId, kept)
    // The fault is reported to whoever awaits the listing.
    kept.catch(() => undefined)
  }

  /** Stores what differed from the last commit when work began; the first record counts. */
  keepEarlierChanges(taskId: string, changes: EarlierChanges): void {
    this.fence.requireHeld()
    this.#mark(taskId)
    const file = this.#file(taskId, EARLIER)
    if (!existsSync(file)) writeFileSync(file, JSON.stringify(changes), { mode: 0o600, flush: true })
  }

  loadEarlierChanges(taskId: string): EarlierChanges {
    const file = this.#file(taskId, EARLIER)
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as EarlierChanges) : []
  }

  /** Dependencies and ignored files that were added or changed since work began; null if unknown. */
  async findDependencyChanges(taskId: string, tree: string): Promise<readonly string[] | null> {
    await this.#beginning.get(taskId)
    const file = this.#file(taskId, DEPENDENCIES)
    return existsSync(file) ? this.trees.findChangedDependencies(tree, file) : null
  }

  async acceptDependencies(
    taskId: string,
    tree: string,
    accepted: { readonly paths: readonly string[]; readonly before: number },
  ): Promise<void> {
    const file = this.#file(taskId, DEPENDENCIES)
    if (existsSync(file)) await this.fence.run(() => this.trees.acceptDependencies(tree, file, accepted))
  }

  /**
   * Stores the contents of these files under the hashes that the ledger is about to record. Throws when a file does not
   * match.
   */
  keepPins(taskId: string, tree: string, files: PinnedFiles): Promise<void> {
    return this.fence.run(() => this.#keepPins(taskId, tree, files))
  }

  async #keepPins(taskId: string, tree: string, files: PinnedFiles): Promise<void> {
    this.#mark(taskId)
    await mkdir(this.#file(taskId, OBJECTS), { recursive: true, mode: 0o700 })
    const pins: Pins = { ...this.#pins(taskId) }
    let bytes = 0
    for (const [path, hash] of Object.entries(files)) {
      const inline = parseInlineKey(path)
      if (inline !== null) {
        pins[formatPinKey(path, hash)] = { inline }
        await this.#keepInline(taskId, { tree, path: inline, hash })
        continue
      }
      const stat = lstatSync(join(tree, path))
      bytes += stat.size
      if (bytes > PINNED_BYTES_MAX) throw new Error(`test files take more than ${PINNED_BYTES_MAX} bytes`)
      if (stat.isSymbolicLink()) pins[formatPinKey(path, hash)] = { link: await readlink(join(tree, path)) }
      else {
        pins[formatPinKey(path, hash)] = { mode: stat.mode & MODE_MASK }
        await this.#keepObject(taskId, { tree, path, hash })
      }
    }
    writeFileAtomically(this.#file(taskId, PINS), JSON.stringify(pins))
  }

  /** Whether contents were stored for all of these files. Tasks of an older version have none. */
  hasPins(taskId: string, files: ReadonlyMap<string, string>): boolean {
    const pins = this.#pins(taskId)
    return [...files].every(([path, hash]) => pins[formatPinKey(path, hash)] !== undefined)
  }

  /** A pinned file as it was; null when it is missing or damaged. */
  findPinned(taskId: string, path: string, hash: string): ViewEntry | null {
    const pin = this.#pins(taskId)[formatPinKey(path, hash)]
    if (pin === undefined || 'inline' in pin) return null
    if ('link' in pin) return isTargetInside(path, pin.link) ? { path, type: 'link', target: pin.link } : null
    const content = this.#object(taskId, hash)
    return content === null ? null : { path, type: 'file', content, mode: pin.mode }
  }

  /** The tests that RED recorded inside a file; null when they are missing or damaged. */
  findInlineTests(taskId: string, hash: string): InlineTests | null {
    const content = this.#object(taskId, hash)
    return content === null ? null : (JSON.parse(content.toString('utf8')) as InlineTests)
  }

  #object(taskId: string, hash: string): Buffer | null {
    const file = join(this.#file(taskId, OBJECTS), hash)
    const content = existsSync(file) ? readFileSync(file) : null
    return content !== null && sha256Hex(content) === hash ? content : null
  }

  /** The files that a repeated RED recorded in addition; null if it was not repeated. */
  findPinsOfRerun(state: Pick<TaskState, 'id' | 'pinnedRun'>): ReadonlyMap<string, string> | null {
    const file = this.#file(state.id, AGAIN)
    if (!existsSync(file)) return null
    const { run, files } = JSON.parse(readFileSync(file, 'utf8')) as { run: string | null; files: PinnedFiles }
    return run === state.pinnedRun ? new Map(Object.entries(files)) : null
  }

  keepPinsAgain({ id, pinnedRun }: Pick<TaskState, 'id' | 'pinnedRun'>, files: PinnedFiles): void {
    this.fence.requireHeld()
    writeFileSync(this.#file(id, AGAIN), JSON.stringify({ run: pinnedRun, files }), { mode: 0o600, flush: true })
  }

  async drop(taskId: string): Promise<void> {
    await this.#beginning.get(taskId)?.catch(() => undefined)
    this.#beginning.delete(taskId)
    await rm(this.#place(taskId), REMOVED)
  }

  /** Removes the folders of tasks that are over; a folder that names no task is asked for as ''. */
  async sweep(isOver: (taskId: string) => Promise<boolean>): Promise<void> {
    for (const name of await readdir(this.dir).catch(() => [])) {
      const file = join(this.dir, name, TASK)
      const taskId = existsSync(file) ? readFileSync(file, 'utf8') : ''
      const isNamed = formatFolderName(taskId) === name
      if (await isOver(isNamed ? taskId : '')) await rm(join(this.dir, name), REMOVED)
    }
  }

  async #keepInline(taskId: string, one: { tree: string; path: string; hash: string }): Promise<void> {
    const text = one.path === '' ? '' : ((await openWorkTree(one.tree).read(one.path))?.toString('utf8') ?? '')
    const { content, hash } = await buildInlineRecord(one.path, text)
    if (hash !== one.hash) throw new Error(`${one.path} was changed meanwhile`)
    await writeFile(join(this.#file(taskId, OBJECTS), hash), content, { mode: 0o600 })
  }

  async #keepObject(taskId: string, one: { tree: string; path: string; hash: string }): Promise<void> {
    const object = join(this.#file(taskId, OBJECTS), one.hash)
    if (existsSync(object)) return
    const from = openFile(one.tree, one.path)
    if (!from.ok) throw new Error(`${one.path} cannot be read`)
    const hash = createHash('sha256')
    const into = await open(`${object}.new`, 'w', 0o600)
    try {
      for await (const chunk of readChunks(from.fd, PINNED_BYTES_MAX)) {
        hash.update(chunk)
        await into.writeFile(chunk)
      }
    } finally {
      closeSync(from.fd)
      await into.close()
    }
    if (hash.digest('hex') !== one.hash) throw new Error(`${one.path} was changed meanwhile`)
    await rename(`${object}.new`, object)
  }

  #pins(taskId: string): Pins {
    const file = this.#file(taskId, PINS)
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Pins) : {}
  }

  #mark(taskId: string): void {
    makeDirectory(this.#place(taskId))
    writeFileSync(this.#file(taskId, TASK), taskId, { mode: 0o600 })
  }

  #file(taskId: string, name: string): string {
    return join(this.#place(taskId), name)
  }

  #place(taskId: string): string {
    return join(this.dir, formatFolderName(taskId))
  }
}

function formatPinKey(path: string, hash: string): string {
  return `${hash} ${path}`
}

function formatFolderName(taskId: string): string {
  return sha256Hex(taskId).slice(0, 32)
}
