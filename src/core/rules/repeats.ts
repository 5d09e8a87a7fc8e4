import type { Entry, Link, Text } from './chain.js'
import { countWhile } from './chain.js'
import type { Spine } from './facts-by-time.js'
import { getIndex } from './facts-by-time.js'
import { read } from './layered-map.js'
import type { Log } from './log.js'
import type { Matches } from './memo.js'
import { findLatestRepeat, findMatching } from './memo.js'
import type { RepeatRule } from './rule.js'

interface Repeats {
  /** Of all counted facts. */
  readonly count: number
  /** The most frequent texts, at most three; ties in order of arrival. */
  readonly names: readonly string[]
  /** Counted facts, newest first, at most five. */
  readonly newest: readonly Entry[]
}

interface Moment {
  readonly enteredAt: number
  readonly now: number
  readonly mark: number
  readonly matches: Matches
}

type Counts = (entry: Entry) => boolean

const NAMES_MAX = 3
const NEWEST_MAX = 5
/** Texts are taken from this many of the newest counted facts, so that a lasting violation is cheap. */
const NAMED_FACTS_MAX = 500

/** What a rule counts in the window that ends now; null below the threshold. */
export function findRepeats(log: Log, rule: RepeatRule, moment: Moment): Repeats | null {
  const { newest, latest } = getIndex(log)
  if (newest === null) return null
  const counts = makeCountRule(newest, rule, moment)
  if (rule.pattern !== null) {
    const chain = findMatching(newest, rule.pattern, moment.matches)
    const count = countWhile(chain, counts)
    if (count < rule.threshold) return null
    const named = takeNewest(chain, counts, NAMED_FACTS_MAX)
    return { count, names: sortByFrequency(named).slice(0, NAMES_MAX), newest: named.slice(0, NEWEST_MAX) }
  }
  const repeat = findLatestRepeat(newest, rule.threshold)
  if (repeat === null || !counts(repeat.entry)) return null
  // With very many facts, the most frequent recent text may be another one below the threshold.
  const candidates = [
    ...sortByFrequency(takeNewest(newest, counts, NAMED_FACTS_MAX)).slice(0, 1),
    repeat.entry.text.value,
  ]
  const chains = candidates.map((text) => read(latest, text) ?? null)
  const chain = chains.find((one) => countWhile(one, counts) >= rule.threshold) ?? repeat
  const same = takeNewest(chain, counts, NEWEST_MAX)
  return { count: countWhile(chain, counts), names: [chain.entry.text.value], newest: same }
}

// Counted facts are always the newest part of the log, so only their start is searched. A fact from the future counts
// as current.
function makeCountRule(newest: Spine, rule: RepeatRule, moment: Moment): Counts {
  const since = Math.max(moment.enteredAt, moment.now - rule.window * 1000)
  if (!rule.unlessProgress) return (entry) => entry.at >= since
  if (newest.entry.mark !== moment.mark) return () => false
  return (entry) => entry.at >= since && entry.position >= newest.runStart
}

interface ChainedEntry {
  readonly entry: Entry
  readonly before: ChainedEntry | null
}

function takeNewest(chain: Link | Spine | null, counts: Counts, most: number): readonly Entry[] {
  const found: Entry[] = []
  let one: ChainedEntry | null = chain
  while (one !== null && found.length < most && counts(one.entry)) {
    found.push(one.entry)
    one = one.before
  }
  return found
}

function sortByFrequency(newest: readonly Entry[]): readonly string[] {
  const counts = new Map<Text, number>()
  for (const { text } of newest.toReversed()) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].sort(([, left], [, right]) => right - left).map(([text]) => text.value)
}
