import ignore, { type Ignore } from 'ignore'
import { readIgnoreFile } from '../../tree/tree-contents.js'

interface Rules {
  /** The directory the rules lie in, relative to the tree; '' is the tree itself. */
  readonly base: string
  readonly ignore: Ignore
}

/** The `.gitignore` files on the way from the tree to wherever a walk is. A deeper one has the last word. */
export class IgnoreRules {
  readonly #stack: Rules[] = []

  /** Takes up the rules of a directory, and leaves behind those of directories that it does not lie in. */
  enter(path: string, fd: number): void {
    while (!isBelow(path, this.#stack.at(-1)?.base ?? '')) this.#stack.pop()
    const text = readIgnoreFile(fd)
    if (text !== null) this.#stack.push({ base: path, ignore: ignore({ ignorecase: false }).add(text) })
  }

  clear(): void {
    this.#stack.length = 0
  }

  isPathIgnored(path: string, isDirectory: boolean): boolean {
    for (let at = this.#stack.length - 1; at >= 0; at -= 1) {
      const rules = this.#stack[at]
      // The walk has come back from a directory whose rules are still here.
      if (rules === undefined || !isBelow(path, rules.base)) continue
      const below = rules.base === '' ? path : path.slice(rules.base.length + 1)
      const { ignored, unignored } = rules.ignore.test(isDirectory ? `${below}/` : below)
      if (ignored || unignored) return ignored
    }
    return false
  }
}

function isBelow(path: string, base: string): boolean {
  return base === '' || path.startsWith(`${base}/`)
}
