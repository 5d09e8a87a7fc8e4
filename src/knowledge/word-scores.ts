import { type Entry, type SearchIndex, STRENGTH_MAX, type Strengths } from './passages.js'
import { listRelated } from './related-words.js'
import { listOtherForms, splitQuery } from './words.js'

/** The weight of the long form of an abbreviation, such as configuration for config. */
const OTHER_FORM_SHARE = 0.9
/** The weight of a word that only means nearly the same as a word of the query. */
const RELATED_SHARE = 0.45
/** A word in more than this share of passages is typical for these documents: related words would only add noise. */
const RELATED_HITS_SHARE_MAX = 0.1
/** For the first eight words of a query at least: twelve are in a line of the table. */
const RELATED_LOOKUPS_MAX = 96
/** The weight of the document next to the passage: each word where it is strongest, and the mean of its passages. */
const DOCUMENT_BEST_SHARE = 0.3
const DOCUMENT_MEAN_SHARE = 0.2
const REACHABLE_SHARE = 1 + DOCUMENT_BEST_SHARE + DOCUMENT_MEAN_SHARE

type Candidates = ReadonlyMap<number, Entry>

/**
 * BM25 as a share of the score of a passage with every word of the query, so that a chance hit of one word stays small.
 * How rare a word is, is counted among the candidates alone, so hidden passages do not affect the scores.
 */
export function scoreByWords(index: SearchIndex, query: string, candidates: Candidates): ReadonlyMap<number, number> {
  const passages = new Map<number, number>()
  const documents = new Map<string, number>()
  const best = new BestOfWord(candidates)
  let reachable = 0
  let lookups = 0
  for (const word of splitQuery(query)) {
    const rarityMax = best.take(index.computeStrengths(word), { share: 1, rarityMax: Number.POSITIVE_INFINITY })
    reachable += rarityMax * STRENGTH_MAX
    const isCommon = best.hits > RELATED_HITS_SHARE_MAX * candidates.size
    const related = isCommon ? [] : listRelated(word).slice(0, RELATED_LOOKUPS_MAX - lookups)
    lookups += related.length
    for (const other of listOtherForms(word))
      best.take(index.computeStrengths(other), { share: OTHER_FORM_SHARE, rarityMax })
    for (const other of related) best.take(index.computeStrengths(other), { share: RELATED_SHARE, rarityMax })
    best.moveTo(passages, documents)
  }
  return addDocumentScores(index, candidates, { passages, documents, reachable })
}

interface Limit {
  readonly share: number
  /** Another word never counts as rarer than the word of the query itself. */
  readonly rarityMax: number
}

/** For each candidate the best of one word and its substitutes. Flat arrays, because this takes most of the time. */
class BestOfWord {
  readonly #candidates: Candidates
  readonly #isCandidate: Uint8Array
  readonly #scores: Float64Array
  #ids: number[] = []

  constructor(candidates: Candidates) {
    let idMax = 0
    for (const id of candidates.keys()) idMax = Math.max(idMax, id)
    this.#candidates = candidates
    this.#isCandidate = new Uint8Array(idMax + 1)
    for (const id of candidates.keys()) this.#isCandidate[id] = 1
    this.#scores = new Float64Array(idMax + 1)
  }

  /** How many candidates have a score. */
  get hits(): number {
    return this.#ids.length
  }

  /** Returns how rare the word is among the candidates. */
  take({ ids, values }: Strengths, limit: Limit): number {
    const total = this.#candidates.size
    let hits = 0
    for (const id of ids) hits += this.#isCandidate[id] ?? 0
    const rarity = Math.log(1 + (total - hits + 0.5) / (hits + 0.5))
    const factor = limit.share * Math.min(rarity, limit.rarityMax)
    for (let at = 0; hits > 0 && at < ids.length; at += 1) {
      const id = ids[at] as number
      const score = factor * (values[at] as number)
      const known = this.#scores[id] ?? 0
      if (this.#isCandidate[id] !== 1 || score <= known) continue
      if (known === 0) this.#ids.push(id)
      this.#scores[id] = score
    }
    return rarity
  }

  /** Adds the current word to the sums of passages and documents, and resets it. */
  moveTo(passages: Map<number, number>, documents: Map<string, number>): void {
    const inDocuments = new Map<string, number>()
    for (const id of this.#ids) {
      const score = this.#scores[id] ?? 0
      const file = this.#candidates.get(id)?.file ?? ''
      passages.set(id, (passages.get(id) ?? 0) + score)
      if (score > (inDocuments.get(file) ?? 0)) inDocuments.set(file, score)
      this.#scores[id] = 0
    }
    for (const [file, score] of inDocuments) documents.set(file, (documents.get(file) ?? 0) + score)
    this.#ids = []
  }
}

interface Sums {
  readonly passages: ReadonlyMap<number, number>
  readonly documents: ReadonlyMap<string, number>
  readonly reachable: number
}

/**
 * A title or another section often names the topic of a passage. Either all passages of a document are candidates, or
 * none.
 */
function addDocumentScores(index: SearchIndex, candidates: Candidates, sums: Sums): ReadonlyMap<number, number> {
  const { passages, documents, reachable } = sums
  const shares = new Map<string, number>()
  const scores = new Map<number, number>()
  for (const [id, sum] of passages) {
    const file = candidates.get(id)?.file ?? ''
    let share = shares.get(file)
    if (share === undefined) {
      const chunks = index.files.get(file)?.chunks ?? [id]
      const mean = chunks.reduce((total, chunk) => total + (passages.get(chunk) ?? 0), 0) / chunks.length
      share = DOCUMENT_BEST_SHARE * (documents.get(file) ?? 0) + DOCUMENT_MEAN_SHARE * mean
      shares.set(file, share)
    }
    scores.set(id, (sum + share) / (REACHABLE_SHARE * reachable))
  }
  return scores
}
