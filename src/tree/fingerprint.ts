import { createHash } from 'node:crypto'
import { TreeUnreadable } from './problems.js'
import type { MetEntry } from './walk.js'

const ENTRIES_MAX = 200_000

/** SHA-256 over every path and content of the project, or why it cannot be told. */
export type Fingerprint = { readonly hash: string } | { readonly problem: string }

/** The hash; throws if it cannot be told. */
export function requireFingerprint(fingerprint: Fingerprint | null): string {
  if (fingerprint === null) throw new Error('the fingerprint was not asked for')
  if ('problem' in fingerprint) throw new TreeUnreadable(fingerprint.problem)
  return fingerprint.hash
}

/** Collects a fingerprint while a tree is read: equal when nothing in the project but the named files has changed. */
export class FingerprintReader {
  readonly #found: (readonly [path: string, what: string])[] = []
  #problem: string | null = null

  constructor(private readonly except: ReadonlySet<string>) {}

  /** The fingerprint can no longer be told. */
  get isRefused(): boolean {
    return this.#problem !== null
  }

  /** Takes a file or a link in the notation of `TreeIndex`; null: it is gone. */
  take({ path, kind }: MetEntry, what: string | null): void {
    if (this.except.has(path)) return
    const content = what?.startsWith('link ') === true ? what : (/^file (.*)$/.exec(what ?? '')?.[1] ?? null)
    if (content === null || what?.startsWith('link ') !== (kind === 'link'))
      // A name that cannot be opened again would keep its fingerprint whatever is written to it.
      this.refuse(
        what === 'unread'
          ? `${path} cannot be read: permission denied`
          : `${path} was changed while the work tree was read, or has a name that is not UTF-8`,
      )
    else this.#found.push([path, content])
    if (this.#found.length > ENTRIES_MAX) this.refuse(`the project has more than ${ENTRIES_MAX} entries`)
  }

  refuse(problem: string): void {
    this.#problem ??= problem
  }

  finish(): Fingerprint {
    if (this.#problem !== null) return { problem: this.#problem }
    const whole = createHash('sha256')
    for (const entry of this.#found.sort(([a], [b]) => (a < b ? -1 : 1))) whole.update(JSON.stringify(entry))
    return { hash: whole.digest('hex') }
  }
}
