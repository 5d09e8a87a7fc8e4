import ignore, { type Ignore } from 'ignore'

/** The text of a `.gitignore`, and its folder ('' is the tree itself, with the global ignore rules first). */
export interface IgnoreText {
  readonly base: string
  readonly text: string
}

const READY_MAX = 8
const USES_MAX = 200
const ANSWERS_MAX = 400_000
const ready = new Map<string, { readonly rules: IgnoreRules; uses: number }>()

/**
 * Compiled rules from a small cache. They remember answers, so the next scan of the same tree is faster. After some uses
 * they are compiled again, so that answers about files that are gone are forgotten. Callers must not change them.
 */
export function reuseRules(list: readonly IgnoreText[]): IgnoreRules {
  const key = JSON.stringify(list)
  const known = ready.get(key)
  if (known !== undefined && known.uses < USES_MAX) {
    known.uses += 1
    return known.rules
  }
  ready.delete(key)
  if (ready.size >= READY_MAX) ready.delete(ready.keys().next().value ?? '')
  const rules = new IgnoreRules(list)
  ready.set(key, { rules, uses: 1 })
  return rules
}

/** Which paths of a tree are ignored. The rules of the nearest folder have precedence. */
export class IgnoreRules {
  readonly list: IgnoreText[] = []
  readonly #byFolder = new Map<string, Ignore>()
  readonly #answers = new Map<string, boolean>()

  constructor(rules: readonly IgnoreText[] = []) {
    for (const rule of rules) this.take(rule)
  }

  take(rule: IgnoreText): void {
    this.#answers.clear()
    this.list.push(rule)
    this.#byFolder.set(rule.base, compile(rule.text))
  }

  isIgnored(path: string, isDirectory: boolean): boolean {
    const asked = isDirectory ? `${path}/` : path
    const known = this.#answers.get(asked)
    if (known !== undefined) return known
    if (this.#answers.size >= ANSWERS_MAX) this.#forget()
    const isIgnored = this.#judge(path, isDirectory)
    this.#answers.set(asked, isIgnored)
    return isIgnored
  }

  // The compiled rules remember answers too.
  #forget(): void {
    this.#answers.clear()
    for (const { base, text } of this.list) this.#byFolder.set(base, compile(text))
  }

  #judge(path: string, isDirectory: boolean): boolean {
    for (let base = getParent(path); ; base = getParent(base)) {
      const rules = this.#byFolder.get(base)
      if (rules !== undefined) {
        const below = base === '' ? path : path.slice(base.length + 1)
        const { ignored, unignored } = rules.test(isDirectory ? `${below}/` : below)
        if (ignored || unignored) return ignored
      }
      if (base === '') return false
    }
  }
}

function compile(text: string): Ignore {
  return ignore({ ignorecase: false }).add(text)
}

function getParent(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0))
}
