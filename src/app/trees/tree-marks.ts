import { existsSync, linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { applyLines, readJournal, readSnapshot, writeSnapshot } from './tree-journal.js'

/** Maximum number of moments whose trees are stored; the oldest are removed. */
const MARKS_MAX = 2000
const READY_MAX = 3
const MARK = '.mark.gz'
/** Beside a mark: what changed since its snapshot. */
const LATER = '.journal'

/** The trees of moments: a snapshot each, most of them shared, and what changed since it was made. */
export class TreeMarks {
  /** Marks that were read lately, by file. */
  readonly #ready = new Map<string, TreeIndex>()

  constructor(
    private readonly dir: string,
    private readonly marksMax = MARKS_MAX,
  ) {}

  /** Keeps the current snapshot, with the journal that goes with it if there is one. */
  link(name: string, snapshot: string, journal: string | null): void {
    const file = this.#clear(name)
    // Before the mark itself: without these lines it would be another tree.
    if (journal !== null) writeFileSync(`${file}${LATER}`, readFileSync(journal), { mode: 0o600, flush: true })
    // Snapshots are replaced, never rewritten: the mark keeps the current one.
    linkSync(snapshot, file)
    this.#dropOldest()
  }

  write(name: string, index: TreeIndex): void {
    writeSnapshot(this.#clear(name), { index, generation: 0 })
    this.#dropOldest()
  }

  /** Null when there is no such mark. */
  read(name: string): TreeIndex | null {
    const file = this.#file(name)
    const known = this.#ready.get(file) ?? readMark(file)
    if (this.#ready.size >= READY_MAX) this.#ready.clear()
    if (known !== null) this.#ready.set(file, known)
    return known
  }

  #clear(name: string): string {
    const file = this.#file(name)
    this.#ready.delete(file)
    remove(file)
    return file
  }

  #file(name: string): string {
    return join(this.dir, `${name}${MARK}`)
  }

  #dropOldest(): void {
    const names = readdirSync(this.dir).filter((name) => name.endsWith(MARK))
    if (names.length <= this.marksMax) return
    this.#ready.clear()
    // Another node may remove one at the same time.
    const aged = names.map((name) => {
      const file = join(this.dir, name)
      return { file, at: statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0 }
    })
    for (const { file } of aged.sort((a, b) => a.at - b.at).slice(0, names.length - this.marksMax)) remove(file)
  }
}

function readMark(file: string): TreeIndex | null {
  const index = readSnapshot(file)?.index ?? null
  if (index !== null) applyLines(index, readJournal(`${file}${LATER}`).lines)
  return index
}

function remove(file: string): void {
  rmSync(file, { force: true })
  if (existsSync(`${file}${LATER}`)) rmSync(`${file}${LATER}`, { force: true })
}
