/** Maximum stored length of a command or an edit. */
export interface KeptFact {
  readonly at: number
  readonly text: string
  readonly tool: string | null
  readonly mark: number
}

/** Facts by time; equal times in order of arrival. Full chunks are shared between versions. */
export interface Log {
  readonly sealed: readonly (readonly KeptFact[])[]
  readonly open: readonly KeptFact[]
  readonly kept: number
  /** Including dropped ones. */
  readonly added: number
}

/** Maximum per kind and visit. Beyond it, the oldest tenth is dropped at once. */
export const FACTS_MAX = 50_000
const FACTS_DROPPED = FACTS_MAX / 10
const CHUNK_FACTS = 32
// Late facts go into sealed chunks, which are split when they reach this size.
const CHUNK_FACTS_MAX = 2 * CHUNK_FACTS

export const NO_LOG: Log = { sealed: [], open: [], kept: 0, added: 0 }

export function insert(log: Log, fact: KeptFact): Log {
  const placed = place(log, fact)
  return placed.kept > FACTS_MAX ? dropOldest(placed) : placed
}

/** All facts, oldest first. */
export function listFacts(log: Log): readonly KeptFact[] {
  return [...log.sealed.flat(), ...log.open]
}

function place(log: Log, fact: KeptFact): Log {
  const counts = { kept: log.kept + 1, added: log.added + 1 }
  const edge = log.open[0] ?? log.sealed.at(-1)?.at(-1)
  if (log.sealed.length > 0 && edge !== undefined && fact.at < edge.at)
    return { ...log, ...counts, sealed: insertIntoSealed(log.sealed, fact) }
  const open = insertIntoChunk(log.open, fact)
  if (open.length < CHUNK_FACTS) return { ...log, ...counts, open }
  return { ...counts, sealed: [...log.sealed, open], open: [] }
}

function insertIntoSealed(sealed: Log['sealed'], fact: KeptFact): Log['sealed'] {
  const chunk = findChunk(sealed, fact.at)
  const grown = insertIntoChunk(sealed[chunk] ?? [], fact)
  if (grown.length < CHUNK_FACTS_MAX) return sealed.with(chunk, grown)
  return sealed.toSpliced(chunk, 1, grown.slice(0, CHUNK_FACTS), grown.slice(CHUNK_FACTS))
}

// The last chunk that begins no later, by binary search.
function findChunk(sealed: Log['sealed'], at: number): number {
  let low = 0
  let high = sealed.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const first = sealed[middle]?.[0]
    if (first !== undefined && first.at <= at) low = middle
    else high = middle - 1
  }
  return low
}

function insertIntoChunk(chunk: readonly KeptFact[], fact: KeptFact): readonly KeptFact[] {
  const before = chunk.findLastIndex((one) => one.at <= fact.at)
  return chunk.toSpliced(before + 1, 0, fact)
}

function dropOldest(log: Log): Log {
  const facts = listFacts(log).slice(FACTS_DROPPED)
  const sealed: (readonly KeptFact[])[] = []
  for (let from = 0; from < facts.length; from += CHUNK_FACTS) sealed.push(facts.slice(from, from + CHUNK_FACTS))
  return { sealed, open: [], kept: facts.length, added: log.added }
}
