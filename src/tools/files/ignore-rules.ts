import ignore, { type Ignore } from 'ignore'
import { readIgnoreFile } from '../../tree/tree-contents.js'

interface Rules {
  /** The folder of the rules, relative to the tree; '' is the tree itself. */
  readonly base: string
  readonly ignore: Ignore
}

/** The `.gitignore` files from the tree to the current position of a walk. A deeper one has precedence. */
export class IgnoreRules {
  readonly #stack: Rules[] = []

  /** Adds the rules of a directory, and drops those of directories that it is not in. */
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
      // The walk has left a directory whose rules are still here.
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
