import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { hashContent } from '../trees/kept-contents.js'

export const STASH_ID = /^st-[0-9a-f]{12}$/
export const STASHES_MAX = 100
const PLAN = 'plan.json'
const BEGUN = '.new'
const GONE = '.gone'

/** How far it is: what is `saving`, `popping` or `dropping` at the start of a server was cut off in the middle. */
export type Stage = 'saving' | 'saved' | 'popping' | 'dropping'

/** One path that a task changed. What stands there is written as in `TreeIndex`; null: nothing. */
export interface StashedPath {
  readonly path: string
  /** When its work began. */
  readonly was: string | null
  /** When it was put aside. */
  readonly now: string | null
  /** What allowed calls had made of it: what else happened to it is not forgotten by putting it aside. */
  readonly expected: string | null
  /** The rights of the file that was put aside. */
  readonly mode: number | null
}

/** The work of a task, put aside. */
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

/** Where stashes lie in the state directory: each a folder with its plan and the contents of files by their hash. */
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

  /** Begins one. Nothing of it is there before `publish`. */
  begin(id: string): void {
    mkdirSync(join(this.#dir, id + BEGUN), { recursive: true, mode: 0o700 })
  }

  /** Keeps the content of a file of a stash that was begun. */
  put(id: string, content: Buffer): void {
    const file = join(this.#dir, id + BEGUN, hashContent(content))
    if (!existsSync(file)) writeFileSync(file, content, { mode: 0o600, flush: true })
  }

  publish(stash: Stash): void {
    const begun = join(this.#dir, stash.id + BEGUN)
    writeFileSync(join(begun, PLAN), JSON.stringify(stash), { mode: 0o600, flush: true })
    sync(begun)
    renameSync(begun, join(this.#dir, stash.id))
    sync(this.#dir)
  }

  discard(id: string): void {
    rmSync(join(this.#dir, id + BEGUN), { recursive: true, force: true })
  }

  setStage(stash: Stash, stage: Stage): Stash {
    const folder = join(this.#dir, stash.id)
    const next = { ...stash, stage }
    writeFileSync(join(folder, PLAN + BEGUN), JSON.stringify(next), { mode: 0o600, flush: true })
    renameSync(join(folder, PLAN + BEGUN), join(folder, PLAN))
    sync(folder)
    return next
  }

  /** The file that holds a content; null when it is not there or not what it was. */
  findContent(id: string, sha256: string): string | null {
    const file = join(this.#dir, id, sha256)
    return existsSync(file) && hashContent(readFileSync(file)) === sha256 ? file : null
  }

  remove(id: string): void {
    const folder = join(this.#dir, id)
    if (!existsSync(folder)) return
    // Half of a stash is none: its name goes first.
    renameSync(folder, folder + GONE)
    sync(this.#dir)
    rmSync(folder + GONE, { recursive: true, force: true })
  }

  /** Removes what a server that was killed had begun, or had not removed yet. */
  sweep(): void {
    for (const name of this.#names())
      if (name.endsWith(BEGUN) || name.endsWith(GONE)) rmSync(join(this.#dir, name), { recursive: true, force: true })
  }

  #names(): readonly string[] {
    return existsSync(this.#dir) ? readdirSync(this.#dir) : []
  }
}

function sync(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
