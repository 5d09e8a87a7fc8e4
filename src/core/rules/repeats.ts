import type { Entry, Link } from './chain.js'
import { countWhile } from './chain.js'
import { read } from './layers.js'
import type { Log } from './log.js'
import type { Matches } from './memo.js'
import { latestRepeat, matching } from './memo.js'
import type { RepeatRule } from './rule.js'
import type { Indexed, Spine } from './spine.js'
import { indexOf } from './spine.js'

export interface Repeats {
  /** Of everything that counts. */
  readonly count: number
  /** The most frequent texts, at most three; equally frequent ones in the order they first came. */
  readonly names: readonly { readonly text: string; readonly count: number }[]
  /** What counts, newest first; at least the newest five. */
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

/** What a rule counts in the window that ends now; null when it is less than the threshold. */
export function findRepeats(log: Log, rule: RepeatRule, moment: Moment): Repeats | null {
  const index = indexOf(log)
  if (index.newest === null) return null
  const counts = countsFor(index.newest, rule, moment)
  return rule.pattern === null
    ? oneRepeated(index, latestRepeat(index.newest, rule.threshold), counts)
    : manyRepeated(matching(index.newest, rule.pattern, moment.matches), index.texts, { ...rule, counts })
}

// What counts is always the newest part of the log, so that the question is only where it begins. A fact from the
// future is as new as one of now.
function countsFor(newest: Spine, rule: RepeatRule, moment: Moment): Counts {
  const since = Math.max(moment.enteredAt, moment.now - rule.window * 1000)
  if (!rule.unlessProgress) return (entry) => entry.at >= since
  if (newest.entry.mark !== moment.mark) return () => false
  return (entry) => entry.at >= since && entry.position >= newest.runStart
}

function manyRepeated(
  chain: Link | null,
  texts: number,
  rule: { readonly threshold: number; readonly counts: Counts },
): Repeats | null {
  const count = countWhile(chain, rule.counts)
  if (count < rule.threshold) return null
  const newest: Entry[] = []
  for (let link = chain; link !== null && rule.counts(link.entry); link = link.before) newest.push(link.entry)
  return { count, names: mostFrequent(newest, texts).slice(0, NAMES_MAX), newest }
}

function oneRepeated(index: Indexed, latest: Link | null, counts: Counts): Repeats | null {
  if (latest === null || !counts(latest.entry)) return null
  const all: Entry[] = []
  for (let spine = index.newest; spine !== null && counts(spine.entry); spine = spine.before) all.push(spine.entry)
  const [name] = mostFrequent(all, index.texts)
  if (name === undefined) return null
  const newest: Entry[] = []
  let link = read(index.latest, name.text) ?? null
  for (; link !== null && counts(link.entry); link = link.before) newest.push(link.entry)
  return { count: name.count, names: [name], newest }
}

function mostFrequent(newest: readonly Entry[], texts: number): Repeats['names'] {
  const counts = new Uint32Array(texts)
  const inOrder: Entry[] = []
  for (const entry of newest.toReversed()) {
    const before = counts[entry.textId] ?? 0
    if (before === 0) inOrder.push(entry)
    counts[entry.textId] = before + 1
  }
  const best: { text: string; count: number }[] = []
  for (const entry of inOrder) {
    const count = counts[entry.textId] ?? 0
    const place = best.findLastIndex((one) => one.count >= count) + 1
    if (place >= NAMES_MAX) continue
    best.splice(place, 0, { text: entry.text.value, count })
    if (best.length > NAMES_MAX) best.pop()
  }
  return best
}
