import type { Link, Text } from './chain.js'
import { extend, getLink } from './chain.js'
import type { Spine } from './facts-by-time.js'

export type Matches = (pattern: string, text: string) => boolean
type Step = (result: Link | null, spine: Spine) => Link | null

// Results are cached at the newest fact and at every multiple of this, so that older versions find one nearby.
const STRIDE = 128

// Caches of pure results: the matcher must be deterministic.
const results = new WeakMap<Spine, Map<string, Link | null>>()
const verdicts = new WeakMap<Text, Map<string, boolean>>()

/** The chain of facts whose text matches. Each text is matched once per pattern. */
export function findMatching(newest: Spine, pattern: string, matches: Matches): Link | null {
  return fold(newest, `pattern ${pattern}`, (chain, { entry }) =>
    matchesPattern(entry.text, pattern, matches) ? extend(chain, entry) : chain,
  )
}

/** The latest fact from which one text occurs `times` times, including this fact; null when none does. */
export function findLatestRepeat(newest: Spine, times: number): Link | null {
  return fold(newest, `times ${times}`, (latest, spine) => {
    if (spine.same.count < times) return latest
    const from = getLink(spine.same, spine.same.count - times + 1)
    return latest === null || from.entry.position > latest.entry.position ? from : latest
  })
}

function matchesPattern(text: Text, pattern: string, matches: Matches): boolean {
  const known = verdicts.get(text) ?? new Map<string, boolean>()
  const said = known.get(pattern)
  if (said !== undefined) return said
  const found = matches(pattern, text.value)
  verdicts.set(text, known.set(pattern, found))
  return found
}

function fold(newest: Spine, key: string, step: Step): Link | null {
  const missing: Spine[] = []
  let from: Spine | null = newest
  let result: Link | null | undefined
  while (from !== null) {
    result = results.get(from)?.get(key)
    if (result !== undefined) break
    missing.push(from)
    from = from.before
  }
  let folded = result ?? null
  for (const spine of missing.toReversed()) {
    folded = step(folded, spine)
    if (spine === newest || spine.entry.position % STRIDE === 0) keep(spine, key, folded)
  }
  if (from !== null && from !== newest && from.entry.position % STRIDE !== 0) results.get(from)?.delete(key)
  return folded
}

function keep(spine: Spine, key: string, result: Link | null): void {
  const known = results.get(spine)
  if (known === undefined) results.set(spine, new Map([[key, result]]))
  else known.set(key, result)
}
