import type { Metadata } from './metadata.js'
import type { Entry, SearchIndex } from './passages.js'
import { scoreByWords } from './word-scores.js'

export interface SearchRequest {
  readonly query: string
  readonly phase: string | null
  readonly tags: readonly string[]
  readonly workflow: string | null
  readonly limit: number
  /** The phases whose documents may be seen; null: everything. */
  readonly visible: readonly string[] | null
}

export interface FoundPassage {
  readonly content: string
  readonly file: string
  readonly section: string
  readonly startLine: number
  readonly score: number
  readonly tokens: number
  readonly tags: readonly string[]
  readonly phase: string | null
}

interface Using {
  /** Of the query; null: the words alone decide. */
  readonly vector: Float32Array | null
  /** Only these files are searched; null: all. */
  readonly files: ReadonlySet<string> | null
}

/** The weight of the vectors in the common score; the words have the rest. */
const VECTOR_SHARE = 0.5
const CONTENT_CHARS_MAX = 400_000
// Smaller differences are noise, and must not decide an order.
const SCORE_STEPS = 1_000_000

/** The best passages among the visible ones: nothing else affects the ranking. */
export function search(index: SearchIndex, request: SearchRequest, using: Using): readonly FoundPassage[] {
  const { vector, files } = using
  const candidates = new Map<number, Entry>()
  const fitting = new Map<Metadata, boolean>()
  for (const entry of index.entries.values()) {
    let isFitting = fitting.get(entry.metadata)
    if (isFitting === undefined) {
      isFitting = matchesRequest(entry.metadata, request)
      fitting.set(entry.metadata, isFitting)
    }
    if (isFitting && (files === null || files.has(entry.file))) candidates.set(entry.id, entry)
  }
  const words = scoreByWords(index, request.query, candidates)
  const firsts = new Map<number, ScoredEntry>()
  const others: ScoredEntry[] = []
  for (const entry of candidates.values()) {
    const worded = words.get(entry.id) ?? 0
    const raw = vector === null ? worded : (1 - VECTOR_SHARE) * worded + VECTOR_SHARE * computeSimilarity(entry, vector)
    if (raw <= 0) continue
    const one = { entry, score: Math.round(raw * SCORE_STEPS) / SCORE_STEPS }
    // The passages of a document have consecutive ids: this is the id of its section's first one.
    const section = entry.id - entry.ordinal + entry.section
    const first = firsts.get(section)
    if (first === undefined || compare(one, first) < 0) firsts.set(section, one)
    if (first !== undefined) keepBest(others, compare(one, first) < 0 ? first : one, request.limit)
  }
  const best: ScoredEntry[] = []
  for (const one of firsts.values()) keepBest(best, one, request.limit)
  // Every section gets one place before any gets two.
  const shown = [...best, ...others].slice(0, request.limit).sort(compare)
  return boundResults(shown.flatMap(({ entry, score }) => toFound(index, entry, score)))
}

interface ScoredEntry {
  readonly entry: Entry
  readonly score: number
}

// Few of many are needed: only the list of the best so far is kept.
function keepBest(best: ScoredEntry[], one: ScoredEntry, limit: number): void {
  const last = best.at(-1)
  if (best.length >= limit && last !== undefined && compare(one, last) >= 0) return
  let at = best.length
  while (at > 0 && compare(one, best[at - 1] as ScoredEntry) < 0) at -= 1
  best.splice(at, 0, one)
  if (best.length > limit) best.pop()
}

function compare(a: ScoredEntry, b: ScoredEntry): number {
  return b.score - a.score || compareByPlace(a.entry, b.entry)
}

function matchesRequest({ phases, isSealed, tags, workflow }: Metadata, request: SearchRequest): boolean {
  const { visible } = request
  if (visible !== null && (isSealed || !phases.every((phase) => visible.includes(phase)))) return false
  if (request.phase !== null && !phases.includes(request.phase)) return false
  if (request.workflow !== null && workflow !== request.workflow) return false
  return request.tags.every((tag) => tags.includes(tag))
}

/** How close in meaning: the cosine, if it is above zero. */
function computeSimilarity({ vector }: Entry, query: Float32Array): number {
  return vector === null || vector.length !== query.length ? 0 : Math.max(0, computeDotProduct(vector, query))
}

function computeDotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number)
  return sum
}

function compareByPlace(a: Entry, b: Entry): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.ordinal - b.ordinal
}

function toFound(index: SearchIndex, entry: Entry, score: number): readonly FoundPassage[] {
  const passage = index.passage(entry.id)
  if (passage === null) return []
  return [
    {
      content: passage.content,
      file: entry.file,
      section: passage.path.join(' > '),
      startLine: passage.startLine,
      score,
      tokens: passage.tokens,
      tags: entry.metadata.tags,
      phase: entry.metadata.phases[0] ?? null,
    },
  ]
}

// The first is always returned; further ones while the answer stays readable.
function boundResults(all: readonly FoundPassage[]): readonly FoundPassage[] {
  let chars = 0
  const end = all.findIndex(({ content }, at) => {
    chars += content.length
    return at > 0 && chars > CONTENT_CHARS_MAX
  })
  return end < 0 ? all : all.slice(0, end)
}
