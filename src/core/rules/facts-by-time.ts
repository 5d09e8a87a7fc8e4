import type { Entry, Link } from './chain.js'
import { extend } from './chain.js'
import type { Layers } from './layered-map.js'
import { makeLayers, NO_LAYERS, read, write } from './layered-map.js'
import type { KeptFact, Log } from './log.js'
import { listFacts } from './log.js'

/** All facts of a log by time, newest first, each linked to earlier ones with the same text. */
export interface Spine {
  readonly entry: Entry
  readonly before: Spine | null
  readonly same: Link
  /** Where the newest run of facts with the same mark as this one begins. */
  readonly runStart: number
}

interface FactIndex {
  readonly newest: Spine | null
  /** The newest link of each text. */
  readonly latest: Layers<Link>
}

// A fact later than this many others causes a full reindex.
const LATE_FACTS_MAX = 256

// A cache derived from a log; rebuilt when missing.
const indexes = new WeakMap<Log, FactIndex>()

export function getIndex(log: Log): FactIndex {
  const known = indexes.get(log)
  if (known !== undefined) return known
  const made = indexAll(log, NO_LAYERS)
  indexes.set(log, made)
  return made
}

/** Extends the index of a log by one added fact. */
export function carryIndex(from: Log, to: Log, fact: KeptFact): void {
  const index = getIndex(from)
  const isCut = to.kept !== from.kept + 1
  indexes.set(to, (isCut ? null : addFact(index, fact)) ?? indexAll(to, index.latest))
}

function indexAll(log: Log, known: Layers<Link>): FactIndex {
  const latest = new Map<string, Link>()
  let newest: Spine | null = null
  for (const fact of listFacts(log)) {
    const same = latest.get(fact.text) ?? null
    const text = same?.entry.text ?? read(known, fact.text)?.entry.text ?? { value: fact.text }
    newest = grow(newest, { ...fact, text }, same)
    latest.set(fact.text, newest.same)
  }
  return { newest, latest: makeLayers(latest) }
}

function grow(before: Spine | null, fact: Omit<Entry, 'position'>, same: Link | null): Spine {
  const { at, text, tool, mark } = fact
  const entry: Entry = { at, text, tool, mark, position: (before?.entry.position ?? 0) + 1 }
  const runStart = before !== null && before.entry.mark === mark ? before.runStart : entry.position
  return { entry, before, same: extend(same, entry), runStart }
}

function addFact(index: FactIndex, fact: KeptFact): FactIndex | null {
  const later: Spine[] = []
  let before = index.newest
  while (before !== null && before.entry.at > fact.at) {
    if (later.length === LATE_FACTS_MAX) return null
    later.push(before)
    before = before.before
  }
  const known = read(index.latest, fact.text) ?? null
  // Later facts are added again, on links that do not contain this one yet.
  const touched = new Map<string, Link | null>([[fact.text, known]])
  for (const { entry, same } of later) touched.set(entry.text.value, same.before)
  const put = (entry: Omit<Entry, 'position'>) => {
    newest = grow(newest, entry, touched.get(entry.text.value) ?? null)
    touched.set(entry.text.value, newest.same)
  }
  let newest = before
  put({ ...fact, text: known?.entry.text ?? { value: fact.text } })
  for (const { entry } of later.toReversed()) put(entry)
  let latest = index.latest
  for (const [text, link] of touched) if (link !== null) latest = write(latest, text, link)
  return { newest, latest }
}
