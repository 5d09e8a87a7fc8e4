import type { MetEntry } from './walk.js'
import { NOT_THE_PROJECT } from './work-tree.js'

// As many as a listing may have.
const ENTRIES_MAX = 200_000

/** Which entries of a walk belong to the project. Must see every entry, in the order of the walk. */
export class ProjectScope {
  #outsideDepth: number | null = null

  isInside({ depth }: MetEntry): boolean {
    if (this.#outsideDepth !== null && depth <= this.#outsideDepth) this.#outsideDepth = null
    return this.#outsideDepth === null
  }

  isEntered(met: MetEntry): boolean {
    if (!this.isInside(met)) return false
    const { name, depth } = met
    const isOutside = NOT_THE_PROJECT.anywhere.has(name) || (depth === 0 && NOT_THE_PROJECT.atRoot.has(name))
    if (isOutside) this.#outsideDepth = depth
    return !isOutside
  }

  /** Of the folder that was met last. */
  get isOutside(): boolean {
    return this.#outsideDepth !== null
  }
}

/**
 * The files and links of a project, ignored ones too: paths in order, with zeros between them. Texts, because they pass
 * from thread to thread, and stay the same until a name changes.
 */
export interface ProjectFiles {
  readonly all: string
  readonly links: string
}

/** Lists a project while its tree is read. */
export class ProjectFilesReader {
  readonly #all: string[] = []
  readonly #links: string[] = []
  #isWhole = true

  take({ path, kind }: MetEntry): void {
    this.#all.push(path)
    if (kind === 'link') this.#links.push(path)
  }

  /** A folder of the project cannot be read. */
  refuse(): void {
    this.#isWhole = false
  }

  /** Null: ask for a listing, which says what is wrong. */
  finish(): ProjectFiles | null {
    if (!this.#isWhole || this.#all.length > ENTRIES_MAX) return null
    return { all: this.#all.sort().join('\0'), links: this.#links.join('\0') }
  }
}
