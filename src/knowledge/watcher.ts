import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'

const FOLDERS_MAX = 1_000
const QUIET_MS = 300
/** While changes keep coming, they are processed this often. */
const LATEST_MS = 3_000
const POLL_MS = 60_000
const POLL_BLIND_MS = 5_000

/**
 * Reports when files below a root may have changed. It may report too often, but never misses a change: folders that
 * cannot be watched are polled.
 */
export class Watcher {
  readonly #root: string
  readonly #changed: () => void
  readonly #watched = new Map<string, FSWatcher>()
  #isBlind = false
  #first = 0
  #quiet: NodeJS.Timeout | null = null
  #poll: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(root: string, changed: () => void) {
    this.#root = root
    this.#changed = changed
  }

  /** Watches these folders, relative to the root, and no others. */
  follow(folders: readonly string[]): void {
    if (this.#isClosed) return
    const wanted = new Set(folders.slice(0, FOLDERS_MAX))
    this.#isBlind = folders.length > FOLDERS_MAX
    for (const [folder, watcher] of this.#watched) if (!wanted.has(folder)) this.#drop(folder, watcher)
    const before = this.#watched.size
    for (const folder of wanted) if (!this.#watched.has(folder)) this.#add(folder)
    // A file that appeared between listing and watching a folder was not reported.
    if (this.#watched.size > before) this.#soon()
    if (this.#poll !== null) clearTimeout(this.#poll)
    this.#poll = setTimeout(this.#changed, this.#isBlind ? POLL_BLIND_MS : POLL_MS)
    this.#poll.unref()
  }

  close(): void {
    this.#isClosed = true
    if (this.#quiet !== null) clearTimeout(this.#quiet)
    if (this.#poll !== null) clearTimeout(this.#poll)
    for (const [folder, watcher] of this.#watched) this.#drop(folder, watcher)
  }

  #add(folder: string): void {
    try {
      const watcher = watch(join(this.#root, folder), { persistent: false }, () => this.#soon())
      watcher.on('error', () => this.#lost(folder, watcher))
      this.#watched.set(folder, watcher)
    } catch {
      // No watch available, or the folder was removed: polling detects it.
      this.#isBlind = true
    }
  }

  #lost(folder: string, watcher: FSWatcher): void {
    this.#drop(folder, watcher)
    this.#soon()
  }

  #drop(folder: string, watcher: FSWatcher): void {
    watcher.close()
    this.#watched.delete(folder)
  }

  #soon(): void {
    if (this.#isClosed) return
    const now = performance.now()
    if (this.#quiet === null) this.#first = now
    else clearTimeout(this.#quiet)
    const wait = Math.max(0, Math.min(QUIET_MS, this.#first + LATEST_MS - now))
    this.#quiet = setTimeout(() => {
      this.#quiet = null
      this.#changed()
    }, wait)
    this.#quiet.unref()
  }
}
