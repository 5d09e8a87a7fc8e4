import type { Metadata } from './metadata.js'
import { type Entry, type SearchIndex, STRENGTH_MAX } from './passages.js'
import { wordsOf } from './words.js'

export interface SearchRequest {
  readonly query: string
  readonly phase: string | null
  readonly tags: readonly string[]
  readonly workflow: string | null
  readonly limit: number
  /** The phases whose documents may be seen; null: everything. */
  readonly visible: readonly string[] | null
}

export interface Found {
  readonly content: string
  readonly file: string
  readonly section: string
  readonly startLine: number
  readonly score: number
  readonly tokens: number
  readonly tags: readonly string[]
  readonly phase: string | null
}

export interface Using {
  /** Of the query; null: the words alone decide. */
  readonly vector: Float32Array | null
  /** Only these files take part; null: all. */
  readonly files: ReadonlySet<string> | null
}

/** How much the vectors say in the common score; the words say the rest. */
const VECTOR_SHARE = 0.5
const CONTENT_CHARS_MAX = 400_000
const SCORE_DIGITS = 6

/** The best passages among those that may be seen: nothing else takes part in the ranking. */
export function search(index: SearchIndex, request: SearchRequest, using: Using): readonly Found[] {
  const { vector, files } = using
  const candidates = new Map<number, Entry>()
  for (const entry of index.entries.values())
    if (fits(entry.metadata, request) && (files === null || files.has(entry.file))) candidates.set(entry.id, entry)
  const words = wordScores(index, request.query, candidates)
  const meanings = vector === null ? new Map<number, number>() : meaningScores(candidates, vector)
  const share = vector === null ? 0 : VECTOR_SHARE
  const scored: { entry: Entry; score: number }[] = []
  for (const entry of candidates.values()) {
    const score = (1 - share) * (words.get(entry.id) ?? 0) + share * (meanings.get(entry.id) ?? 0)
    if (score > 0) scored.push({ entry, score: Number(score.toFixed(SCORE_DIGITS)) })
  }
  scored.sort((a, b) => b.score - a.score || byPlace(a.entry, b.entry))
  return bounded(scored.slice(0, request.limit).flatMap(({ entry, score }) => found(index, entry, score)))
}

function fits({ phases, isSealed, tags, workflow }: Metadata, request: SearchRequest): boolean {
  const { visible } = request
  if (visible !== null && (isSealed || !phases.every((phase) => visible.includes(phase)))) return false
  if (request.phase !== null && !phases.includes(request.phase)) return false
  if (request.workflow !== null && workflow !== request.workflow) return false
  return request.tags.every((tag) => tags.includes(tag))
}

/**
 * BM25 as a share of what a passage could reach that has every word of the query, so that a chance hit of one word stays small.
 * How rare a word is, is counted among the candidates alone: passages that may not be seen leave no trace in the scores.
 */
function wordScores(
  index: SearchIndex,
  query: string,
  candidates: ReadonlyMap<number, Entry>,
): ReadonlyMap<number, number> {
  const scores = new Map<number, number>()
  let reachable = 0
  for (const word of wordsOf(query)) {
    const hits = [...index.strengths(word)].filter(([id]) => candidates.has(id))
    const rarity = Math.log(1 + (candidates.size - hits.length + 0.5) / (hits.length + 0.5))
    reachable += rarity * STRENGTH_MAX
    for (const [id, strength] of hits) scores.set(id, (scores.get(id) ?? 0) + rarity * strength)
  }
  for (const [id, score] of scores) scores.set(id, score / reachable)
  return scores
}

/** How near in meaning: the cosine, where it is above zero. */
function meaningScores(candidates: ReadonlyMap<number, Entry>, query: Float32Array): ReadonlyMap<number, number> {
  const scores = new Map<number, number>()
  for (const { id, vector } of candidates.values())
    if (vector !== null && vector.length === query.length) scores.set(id, Math.max(0, dot(vector, query)))
  return scores
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number)
  return sum
}

function byPlace(a: Entry, b: Entry): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.ordinal - b.ordinal
}

function found(index: SearchIndex, entry: Entry, score: number): readonly Found[] {
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

// The first is always given; further ones as long as the answer stays readable.
function bounded(all: readonly Found[]): readonly Found[] {
  let chars = 0
  const end = all.findIndex(({ content }, at) => {
    chars += content.length
    return at > 0 && chars > CONTENT_CHARS_MAX
  })
  return end < 0 ? all : all.slice(0, end)
}
