import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory, writeFileAtomically } from '../../base/atomic-file.js'
import { sha256Hex } from '../../base/sha256.js'

const STASH_ID = /^st-[0-9a-f]{12}$/
export const STASHES_MAX = 100
const PLAN = 'plan.json'
const BEGUN = '.new'
const GONE = '.gone'

/** Progress. A stash that is `saving`, `popping` or `dropping` when the server starts was interrupted. */
type Stage = 'saving' | 'saved' | 'popping' | 'dropping'

/** One path that a task changed, in the notation of `TreeIndex`; null: nothing. */
export interface StashedPath {
  readonly path: string
  /** When its work began. */
  readonly was: string | null
  /** When it was stashed. */
  readonly now: string | null
  /** The content that allowed calls had written: stashing does not hide other changes. */
  readonly expected: string | null
  /** The mode of the stashed file. */
  readonly mode: number | null
}

/** The stashed work of a task. */
export interface Stash {
  readonly id: string
  readonly taskId: string
  readonly tree: string
  readonly name: string | null
  readonly reason: string
  readonly actor: string
  readonly phase: string
  readonly savedAt: number
  readonly stage: Stage
  readonly bytes: number
  readonly paths: readonly StashedPath[]
}

/** The stashes in the state directory: each is a folder with its plan and the contents of files by hash. */
export class StashShelf {
  readonly #dir: string

  constructor(stateDir: string) {
    this.#dir = join(stateDir, 'stashes')
  }

  /** Newest first. */
  list(): readonly Stash[] {
    const ids = this.#names().filter((name) => STASH_ID.test(name))
    const found = ids.flatMap((id) => this.get(id) ?? [])
    return found.sort((a, b) => b.savedAt - a.savedAt || (a.id < b.id ? -1 : 1))
  }

  get(id: string): Stash | null {
    const file = join(this.#dir, id, PLAN)
    if (!STASH_ID.test(id) || !existsSync(file)) return null
    return JSON.parse(readFileSync(file, 'utf8')) as Stash
  }

  /** Begins a stash, which is invisible before `publish`. */
  begin(id: string): void {
    mkdirSync(join(this.#dir, id + BEGUN), { recursive: true, mode: 0o700 })
  }

  /** Stores the content of a file for a new stash. */
  put(id: string, content: Buffer): void {
    const file = join(this.#dir, id + BEGUN, sha256Hex(content))
    if (!existsSync(file)) writeFileSync(file, content, { mode: 0o600, flush: true })
  }

  publish(stash: Stash): void {
    const begun = join(this.#dir, stash.id + BEGUN)
    writeFileSync(join(begun, PLAN), JSON.stringify(stash), { mode: 0o600, flush: true })
    syncDirectory(begun)
    renameSync(begun, join(this.#dir, stash.id))
    syncDirectory(this.#dir)
  }

  discard(id: string): void {
    rmSync(join(this.#dir, id + BEGUN), { recursive: true, force: true })
  }

  setStage(stash: Stash, stage: Stage): Stash {
    const folder = join(this.#dir, stash.id)
    const next = { ...stash, stage }
    writeFileAtomically(join(folder, PLAN), JSON.stringify(next))
    return next
  }

  /** The file that holds a content; null when it is missing or altered. */
  findContent(id: string, sha256: string): string | null {
    const file = join(this.#dir, id, sha256)
    return existsSync(file) && sha256Hex(readFileSync(file)) === sha256 ? file : null
  }

  remove(id: string): void {
    const folder = join(this.#dir, id)
    if (!existsSync(folder)) return
    // Rename before deletion, so that no partial stash is ever listed.
    renameSync(folder, folder + GONE)
    syncDirectory(this.#dir)
    rmSync(folder + GONE, { recursive: true, force: true })
  }

  /** Removes unfinished stashes and unfinished deletions of a killed server. */
  sweep(): void {
    for (const name of this.#names())
      if (name.endsWith(BEGUN) || name.endsWith(GONE)) rmSync(join(this.#dir, name), { recursive: true, force: true })
  }

  #names(): readonly string[] {
    return existsSync(this.#dir) ? readdirSync(this.#dir) : []
  }
}
