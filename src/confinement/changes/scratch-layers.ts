import { readFileSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import { KeyedLock } from '../../base/keyed-lock.js'
import { sha256Hex } from '../../base/sha256.js'
import type { Change } from '../../tree/change.js'
import { copyChanges, getParent, listSelfAndAbove, removeEmpty } from './scratch-files.js'

export const SCRATCH_BYTES_MAX = 256 * 1024 * 1024
export const SCRATCH_ENTRIES_MAX = 20_000

interface LayerLimits {
  readonly bytesMax: number
  readonly entriesMax: number
  /** Limit for all tasks together; beyond it the least recently used layer is removed. */
  readonly layersMax: number
  /** Where commands wrote what is in the layers; for notes to agents. */
  readonly place: string
}

const SCRATCH_LIMITS: LayerLimits = {
  ...{ bytesMax: SCRATCH_BYTES_MAX, entriesMax: SCRATCH_ENTRIES_MAX },
  ...{ layersMax: 64, place: 'ignored paths' },
}
const KNOWN_MAX = 10_000
const MODE_MASK = 0o777

const FILES = 'files'
const ABOUT = 'about.json'
const BUSY = 'busy'
/** Beside the files of a layer: what waits for its event. */
const STAGED = 'staged'

/** The change that the event of a staged layer names. */
export interface StagedFor {
  readonly id: string
  readonly tree: string
  readonly taskId: string
  readonly version: number
}

type StagedLayer = ScratchPlan & { readonly change: StagedFor; readonly boot: string }

/** What is known about a layer without reading its files. */
interface LayerFacts {
  readonly taskId: string
  /** Nothing here is synced: after a power cut files may be empty, and the layer is not used. */
  readonly boot: string
  /** Every file and link with its size; every folder that is ignored itself with null. */
  readonly entries: Readonly<Record<string, number | null>>
}

/** The layer after the changes of a command are saved. */
export interface ScratchPlan {
  readonly taskId: string
  readonly changes: readonly Change[]
  readonly entries: LayerFacts['entries']
  /** Why the whole layer is dropped instead; null when it is kept. */
  readonly dropped: string | null
}

/**
 * Writes of commands to ignored paths: one folder per task, laid over its work tree when the next command runs. It is a
 * cache, and is dropped whenever it may be incomplete.
 */
export class ScratchLayers {
  readonly #known = new Map<string, LayerFacts | null>()
  // A half-written layer would look broken, so operations on one task run one after the other.
  readonly #turns = new KeyedLock()

  constructor(
    private readonly dir: string,
    private readonly limits = SCRATCH_LIMITS,
  ) {}

  /** The folder to lay over the tree, or null, and a note about a layer that could not be used. */
  prepare(taskId: string, tree: string): Promise<{ readonly layer: string | null; readonly note: string | null }> {
    return this.#turns.run(taskId, async () => {
      const about = this.#about(taskId)
      if (about === null) return NONE
      if (about === 'broken') {
        await this.#remove(taskId)
        return { ...NONE, note: this.#formatLost() }
      }
      const entries = await this.#fitted(taskId, about, tree)
      return { layer: Object.keys(entries).length === 0 ? null : this.#files(taskId), note: null }
    })
  }

  /** The folder with what a task's commands wrote, for reading; null when there is none. */
  findFilesFolder(taskId: string): Promise<string | null> {
    return this.#turns.run(taskId, async () => {
      const about = this.#about(taskId)
      return about === null || about === 'broken' ? null : this.#files(taskId)
    })
  }

  /** The result of saving these changes. Computed from sizes alone, before anything is copied. */
  plan(taskId: string, changes: readonly Change[], isCut = false): ScratchPlan | null {
    if (changes.length === 0 && !isCut) return null
    const about = this.#about(taskId)
    const entries: Record<string, number | null> = about === null || about === 'broken' ? {} : { ...about.entries }
    for (const { path, kind, type, bytes } of changes) {
      if (kind === 'deleted') delete entries[path]
      else entries[path] = type === 'directory' ? null : (bytes ?? 0)
    }
    const sizes = Object.values(entries)
    const bytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
    const { entriesMax, bytesMax, place } = this.limits
    const isTooMuch = isCut || sizes.length > entriesMax || bytes > bytesMax
    const limit = `${entriesMax} paths or ${bytesMax / 1024 ** 2} MiB`
    const dropped = isTooMuch
      ? `Commands of this task wrote more than ${limit} to ${place}: these files were discarded, and the next command does not see them.`
      : null
    return { taskId, changes, entries, dropped }
  }

  /**
   * Saves what a command left in its view. If the server is killed meanwhile, or the disk is full, the layer stays
   * unused: returns false.
   */
  save(plan: ScratchPlan, view: string | null): Promise<boolean> {
    return this.#turns.run(plan.taskId, async () => {
      try {
        if (plan.dropped !== null || view === null) await this.#remove(plan.taskId)
        else await this.#copy(plan, view)
        return true
      } catch {
        this.#known.delete(plan.taskId)
        return false
      }
    })
  }

  /**
   * Copies what a command left in its view beside the layer, before its event is written. `change`: which event that is.
   * Returns false when there is no room.
   */
  stage(plan: ScratchPlan, view: string | null, change: StagedFor): Promise<boolean> {
    return this.#turns.run(plan.taskId, async () => {
      const staged = join(this.#place(plan.taskId), STAGED)
      try {
        await rm(staged, REMOVED)
        const files = join(staged, FILES)
        await mkdir(files, { recursive: true, mode: 0o700 })
        const dropped = plan.dropped !== null || view === null ? (plan.dropped ?? '') : null
        const stays = plan.changes.filter(({ kind }) => kind !== 'deleted')
        if (view !== null && dropped === null) await copyChanges(view, files, stays)
        const about: StagedLayer = { ...plan, dropped, change, boot: readBootId() }
        await writeFile(join(staged, ABOUT), JSON.stringify(about), { mode: 0o600 })
        return true
      } catch {
        await rm(staged, REMOVED)
        return false
      }
    })
  }

  /** The event of what was staged is in the ledger: it becomes part of the layer. */
  applyStaged(taskId: string): Promise<void> {
    return this.#turns.run(taskId, async () => {
      const staged = join(this.#place(taskId), STAGED)
      const about = readStaged(staged)
      try {
        if (about !== null && about.dropped !== null) await this.#remove(taskId)
        // After a power cut the files may be empty.
        else if (about !== null && about.boot !== readBootId()) await this.#breakLayer(taskId)
        else if (about !== null) await this.#copy(about, join(staged, FILES), 'move')
      } catch {
        // The layer stays marked as broken, and is dropped with a note when it is used next.
        this.#known.delete(taskId)
      }
      await rm(staged, REMOVED)
    })
  }

  /** The event was not written. */
  dropStaged(taskId: string): Promise<void> {
    return this.#turns.run(taskId, () => rm(join(this.#place(taskId), STAGED), REMOVED))
  }

  /** What is staged for a task; null: nothing. */
  findStaged(taskId: string): StagedFor | null {
    return readStaged(join(this.#place(taskId), STAGED))?.change ?? null
  }

  /** What a killed server had staged. */
  async listStaged(): Promise<readonly StagedFor[]> {
    const names = await readNames(this.dir)
    return names.flatMap((name) => readStaged(join(this.dir, name, STAGED))?.change ?? [])
  }

  /** These paths were written to the tree: the layer must not hide them. */
  forget(taskId: string, paths: readonly string[]): Promise<void> {
    return this.#turns.run(taskId, async () => {
      const about = this.#about(taskId)
      if (about === null || about === 'broken') return
      const entries = { ...about.entries }
      const written = new Set(paths)
      const gone = new Set(
        Object.keys(entries).filter((one) => listSelfAndAbove(one).some((path) => written.has(path))),
      )
      for (const path of paths)
        for (const above of listSelfAndAbove(path)) if (typeof entries[above] === 'number') gone.add(above)
      // Folders that lead to ignored paths are not entries, and are removed when the tree no longer has them.
      const shared = new Set(listSharedFolders(entries))
      for (const path of paths) if (shared.has(path)) gone.add(path)
      if (gone.size === 0) return
      for (const path of gone) {
        delete entries[path]
        await rm(join(this.#files(taskId), path), REMOVED)
      }
      await removeEmpty(this.#files(taskId), [...gone], entries)
      await this.#record(taskId, { ...about, entries })
    })
  }

  drop(taskId: string): Promise<void> {
    return this.#turns.run(taskId, () => this.#remove(taskId))
  }

  /** Removes the layers of finished and unknown tasks. */
  async sweep(isOver: (taskId: string) => Promise<boolean>): Promise<void> {
    for (const name of await readNames(this.dir)) {
      const about = read(join(this.dir, name))
      const isWhole = about !== null && about !== 'broken'
      const taskId = isWhole ? about.taskId : readStaged(join(this.dir, name, STAGED))?.taskId
      const isOurs = taskId !== undefined && formatLayerName(taskId) === name
      if (!isOurs || (await isOver(taskId))) await rm(join(this.dir, name), REMOVED)
    }
  }

  // The folders that lead to ignored paths belong to the tree: if the tree no longer has such a folder, its entries are
  // removed, and if its mode changed, it is updated.
  async #fitted(taskId: string, about: LayerFacts, tree: string): Promise<LayerFacts['entries']> {
    const files = this.#files(taskId)
    const entries = { ...about.entries }
    const lost: string[] = []
    for (const folder of listSharedFolders(about.entries)) {
      if (lost.some((one) => isAtOrBelow(one, folder))) continue
      const there = await lstat(join(tree, folder)).catch(() => null)
      if (there?.isDirectory() === true) await chmod(join(files, folder), there.mode & MODE_MASK).catch(() => null)
      else lost.push(folder)
    }
    await chmod(files, (await lstat(tree)).mode & MODE_MASK)
    if (lost.length === 0) return entries
    for (const folder of lost) {
      await rm(join(files, folder), REMOVED)
      for (const path of Object.keys(entries)) if (isAtOrBelow(folder, path)) delete entries[path]
    }
    await this.#record(taskId, { ...about, entries })
    return entries
  }

  async #copy({ taskId, changes, entries }: ScratchPlan, view: string, how: 'copy' | 'move' = 'copy'): Promise<void> {
    const place = this.#place(taskId)
    const files = this.#files(taskId)
    await this.#makeRoom(taskId)
    // Unknown content, such as the rest of an interrupted removal.
    if (this.#about(taskId) === null) await rm(files, REMOVED)
    await mkdir(files, { recursive: true, mode: 0o700 })
    await writeFile(join(place, BUSY), '')
    this.#known.delete(taskId)
    await copyChanges(view, files, changes, how)
    const gone = changes.filter((change) => change.kind === 'deleted').map((change) => change.path)
    await removeEmpty(files, gone, entries)
    await this.#record(taskId, { taskId, boot: readBootId(), entries })
    await rm(join(place, BUSY), REMOVED)
  }

  // Dropped with a note when it is used next.
  async #breakLayer(taskId: string): Promise<void> {
    this.#known.delete(taskId)
    await writeFile(join(this.#place(taskId), BUSY), '')
  }

  async #remove(taskId: string): Promise<void> {
    this.#known.set(taskId, null)
    await rm(this.#place(taskId), REMOVED)
  }

  async #record(taskId: string, about: LayerFacts): Promise<void> {
    await writeFile(join(this.#place(taskId), ABOUT), JSON.stringify(about), { mode: 0o600 })
    this.#known.set(taskId, about)
  }

  async #makeRoom(taskId: string): Promise<void> {
    const names = (await readNames(this.dir)).filter((name) => name !== formatLayerName(taskId))
    const { layersMax } = this.limits
    if (names.length < layersMax) return
    const aged = await Promise.all(
      names.map(async (name) => {
        const files = [join(this.dir, name, ABOUT), join(this.dir, name, STAGED, ABOUT)]
        const times = await Promise.all(files.map(async (file) => (await lstat(file).catch(() => null))?.mtimeMs ?? 0))
        return { name, at: Math.max(...times) }
      }),
    )
    const oldest = aged.sort((a, b) => a.at - b.at).slice(0, names.length - layersMax + 1)
    for (const { name } of oldest) {
      await rm(join(this.dir, name), REMOVED)
      for (const known of this.#known.keys()) if (formatLayerName(known) === name) this.#known.set(known, null)
    }
  }

  #about(taskId: string): LayerFacts | null | 'broken' {
    const known = this.#known.get(taskId)
    if (known !== undefined) return known
    const about = read(this.#place(taskId))
    if (about === 'broken') return about
    if (about !== null && about.taskId !== taskId) return 'broken'
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    this.#known.set(taskId, about)
    return about
  }

  #formatLost(): string {
    return `The files that earlier commands wrote to ${this.limits.place} could not all be kept and were discarded: run those commands again.`
  }

  #place(taskId: string): string {
    return join(this.dir, formatLayerName(taskId))
  }

  #files(taskId: string): string {
    return join(this.#place(taskId), FILES)
  }
}

const NONE = { layer: null, note: null }
const REMOVED = { recursive: true, force: true } as const

function read(place: string): LayerFacts | null | 'broken' {
  const text = readText(join(place, ABOUT))
  if (text === null) return readText(join(place, BUSY)) === null ? null : 'broken'
  if (readText(join(place, BUSY)) !== null) return 'broken'
  try {
    const about = JSON.parse(text) as LayerFacts
    return about.boot === readBootId() && typeof about.taskId === 'string' ? about : 'broken'
  } catch {
    return 'broken'
  }
}

function readStaged(folder: string): StagedLayer | null {
  try {
    return JSON.parse(readText(join(folder, ABOUT)) ?? 'null') as StagedLayer | null
  } catch {
    return null
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function readBootId(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

async function readNames(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function formatLayerName(taskId: string): string {
  return sha256Hex(taskId).slice(0, 32)
}

// From the top, without those that are ignored themselves.
function listSharedFolders(entries: LayerFacts['entries']): readonly string[] {
  const shared = new Set<string>()
  for (const path of Object.keys(entries))
    for (let at = getParent(path); at !== ''; at = getParent(at)) if (entries[at] === undefined) shared.add(at)
  return [...shared].sort()
}
