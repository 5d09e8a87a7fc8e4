import type { Entry, Link, Text } from './chain.js'
import { countWhile } from './chain.js'
import type { Spine } from './facts-by-time.js'
import { getIndex } from './facts-by-time.js'
import { read } from './layered-map.js'
import type { Log } from './log.js'
import type { Matches } from './memo.js'
import { findLatestRepeat, findMatching } from './memo.js'
import type { RepeatRule } from './rule.js'

export interface Repeats {
  /** Of everything that counts. */
  readonly count: number
  /** The most frequent texts, at most three; equally frequent ones in the order they came. */
  readonly names: readonly string[]
  /** What counts, newest first, at most five. */
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
/** Names are found among this many of the newest facts that count, so that a violation that lasts costs little. */
const NAMED_FACTS_MAX = 500

/** What a rule counts in the window that ends now; null when it is less than the threshold. */
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
  // The most frequent text of late may be another one, below the threshold, when there are very many facts.
  const candidates = [
    ...sortByFrequency(takeNewest(newest, counts, NAMED_FACTS_MAX)).slice(0, 1),
    repeat.entry.text.value,
  ]
  const chains = candidates.map((text) => read(latest, text) ?? null)
  const chain = chains.find((one) => countWhile(one, counts) >= rule.threshold) ?? repeat
  const same = takeNewest(chain, counts, NEWEST_MAX)
  return { count: countWhile(chain, counts), names: [chain.entry.text.value], newest: same }
}

// What counts is always the newest part of the log: the question is only where it begins. A fact from the future is as
// new as one of now.
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
