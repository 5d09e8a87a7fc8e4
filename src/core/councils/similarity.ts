import type { Answer, CoordinationRun } from './council.js'
import type { Novelty } from './options.js'

/**
 * Maximum share of common words in percent; above it an answer is too similar. null: everything except duplicates is
 * new.
 */
const NOVELTY_LIMITS: Readonly<Record<Novelty, number | null>> = { lenient: null, balanced: 70, strict: 50 }

interface Likeness {
  readonly label: string
  /** From 0 to 1. */
  readonly similarity: number
  readonly limitPercent: number
}

const WORK_TREE = '<work tree>'
const WORK_TREE_CHARS_MIN = 2

// Caches of pure results: answers never change.
const texts = new WeakMap<Answer, string>()
const tokenSets = new WeakMap<Answer, ReadonlySet<string>>()

/** The first answer of any agent that is equal after trimming and unifying work tree paths; null when none is. */
export function findDuplicate(run: CoordinationRun, content: string): Answer | null {
  const roots = listWorkTrees(run)
  const own = normalizeContent(content, roots)
  return (
    run.answers.find((answer) => getOrMake(texts, answer, () => normalizeContent(answer.content, roots)) === own) ??
    null
  )
}

/** The most similar answer of any agent, if it is too similar under the council's setting; of equals the earlier. */
export function findTooSimilar(run: CoordinationRun, content: string): Likeness | null {
  const limitPercent = NOVELTY_LIMITS[run.options.novelty]
  if (limitPercent === null) return null
  const own = collectTokens(content)
  let found: Likeness | null = null
  for (const answer of run.answers) {
    const other = getOrMake(tokenSets, answer, () => collectTokens(answer.content))
    const common = countCommon(own, other)
    const all = own.size + other.size - common
    // In whole numbers, so that exactly the limit is not above it.
    if (common * 100 <= all * limitPercent) continue
    if (found === null || common / all > found.similarity)
      found = { label: answer.label, similarity: common / all, limitPercent }
  }
  return found
}

function collectTokens(text: string): ReadonlySet<string> {
  return new Set(
    text
      .toLowerCase()
      .split(/\s+/)
      .filter((token) => token !== ''),
  )
}

function countCommon(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a]
  let common = 0
  for (const token of small) if (large.has(token)) common++
  return common
}

/** Longest first, so that a work tree inside another one is replaced whole. */
function listWorkTrees(run: CoordinationRun): readonly string[] {
  const roots = [...run.agents.values()].flatMap(({ workTree }) => workTree?.replace(/\/+$/, '') ?? [])
  return [...new Set(roots)]
    .filter((root) => root.length >= WORK_TREE_CHARS_MIN)
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
}

function normalizeContent(content: string, roots: readonly string[]): string {
  return roots.reduce((text, root) => replaceRoot(text, root), content.trim()).trim()
}

/** Only whole paths: `/tmp/ab` does not lie in `/tmp/a`. */
function replaceRoot(text: string, root: string): string {
  const parts: string[] = []
  let from = 0
  for (let at = text.indexOf(root); at !== -1; at = text.indexOf(root, at + root.length)) {
    const isWhole = !isNamePart(text[at - 1]) && !isNamePart(text[at + root.length])
    if (!isWhole) continue
    parts.push(text.slice(from, at), WORK_TREE)
    from = at + root.length
  }
  return parts.join('') + text.slice(from)
}

function isNamePart(char: string | undefined): boolean {
  return char !== undefined && /[\p{L}\p{N}_-]/u.test(char)
}

function getOrMake<T>(known: WeakMap<Answer, T>, answer: Answer, make: () => T): T {
  const before = known.get(answer)
  if (before !== undefined) return before
  const made = make()
  known.set(answer, made)
  return made
}
