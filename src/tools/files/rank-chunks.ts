const CHUNK_LINES = 30
const CHUNKS_KEPT_MAX = 20_000
const TERMS_MAX = 32
const WORDS_KEPT_MAX = 50_000
// The usual constants of BM25.
const K1 = 1.2
const B = 0.75
const PATH_WEIGHT = 2
const WHOLE_NAME_WEIGHT = 2

const STOP_WORDS = new Set(
  'a an and are as at be by do does find for from get has how i in is it me of on or show that the there this to was what when where which who why with'.split(
    ' ',
  ),
)

interface Term {
  /** Lower case, without a plural s. */
  readonly stem: string
  readonly weight: number
}

/** The words of a question; identifiers count as a whole and in parts. */
export function parseTerms(query: string): readonly Term[] {
  const words = query.match(WORD) ?? []
  const terms = new Map<string, number>()
  for (const word of words.filter(isWord)) {
    const parts = splitName(word)
    for (const part of parts) terms.set(part, Math.max(terms.get(part) ?? 0, 1))
    if (parts.length > 1) terms.set(toStem(word), WHOLE_NAME_WEIGHT)
  }
  const telling = [...terms].filter(([stem]) => !STOP_WORDS.has(stem))
  return (telling.length > 0 ? telling : [...terms]).slice(0, TERMS_MAX).map(([stem, weight]) => ({ stem, weight }))
}

const WORD = /[\p{L}\p{N}_$]+/gu
// Longer ones are data, not words.
const WORD_CHARS_MAX = 64

function isWord(word: string): boolean {
  return word.length <= WORD_CHARS_MAX
}

/** `parseHTTPHeader` and `parse_http_header` are both parse, http, header. */
function splitName(name: string): readonly string[] {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[ _$]+/)
    .filter((part) => part !== '')
    .map(toStem)
}

function toStem(word: string): string {
  const lower = word.toLowerCase()
  return lower.length > 3 && lower.endsWith('s') && !lower.endsWith('ss') ? lower.slice(0, -1) : lower
}

export interface Chunk {
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly endLine: number
  readonly chars: number
  /** How often each term occurs, in the order of the terms. */
  readonly counts: readonly number[]
}

/** Scores chunks of lines by the words that they share with a question: how rare and how frequent these are. */
export class Ranking {
  readonly #terms: readonly Term[]
  readonly #index: ReadonlyMap<string, number>
  readonly #words = new Map<string, readonly number[]>()
  readonly #kept: Chunk[] = []
  readonly #chunksWith: number[]
  #chunks = 0
  #chars = 0
  /** Set when there were more chunks than the maximum. */
  isCut = false

  constructor(terms: readonly Term[]) {
    this.#terms = terms
    this.#index = new Map(terms.map(({ stem }, index) => [stem, index]))
    this.#chunksWith = terms.map(() => 0)
  }

  add(path: string, text: string): void {
    const lines = text.split('\n')
    const inPath = this.#countWords(path)
    const lower = text.toLowerCase()
    const isRelevant = inPath.some((count) => count > 0) || this.#terms.some(({ stem }) => lower.includes(stem))
    for (let from = 0; from < lines.length; from += CHUNK_LINES) {
      this.#chunks += 1
      if (!isRelevant) continue
      const part = lines.slice(from, from + CHUNK_LINES)
      this.#addChunk({ path, line: from + 1, endLine: from + part.length, text: part.join('\n'), inPath })
    }
    this.#chars += text.length
  }

  #addChunk(one: { path: string; line: number; endLine: number; text: string; inPath: readonly number[] }): void {
    const inText = this.#countWords(one.text)
    if (inText.every((count) => count === 0)) return
    for (const [index, count] of inText.entries())
      if (count > 0) this.#chunksWith[index] = (this.#chunksWith[index] ?? 0) + 1
    if (this.#kept.length >= CHUNKS_KEPT_MAX) {
      this.isCut = true
      return
    }
    const counts = inText.map((count, index) => count + PATH_WEIGHT * Math.min(1, one.inPath[index] ?? 0))
    this.#kept.push({ path: one.path, line: one.line, endLine: one.endLine, chars: one.text.length, counts })
  }

  #countWords(text: string): readonly number[] {
    const counts = this.#terms.map(() => 0)
    for (const word of text.match(WORD) ?? [])
      for (const index of this.#termsIn(word)) counts[index] = (counts[index] ?? 0) + 1
    return counts
  }

  // Words repeat: splitting them is most of the work.
  #termsIn(word: string): readonly number[] {
    const known = this.#words.get(word)
    if (known !== undefined) return known
    const parts = isWord(word) ? splitName(word) : []
    const stems = parts.length > 1 ? [...parts, toStem(word)] : parts
    const found = stems.flatMap((stem) => this.#index.get(stem) ?? [])
    if (this.#words.size >= WORDS_KEPT_MAX) this.#words.clear()
    this.#words.set(word, found)
    return found
  }

  /** The best chunks first. */
  best(): readonly (Chunk & { readonly score: number })[] {
    const average = this.#chars / Math.max(1, this.#chunks)
    return this.#kept
      .map((chunk) => ({ ...chunk, score: this.#score(chunk, average) }))
      .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line))
  }

  #score({ counts, chars }: Chunk, average: number): number {
    let score = 0
    for (const [index, count] of counts.entries()) {
      const withTerm = this.#chunksWith[index] ?? 0
      const rarity = Math.log(1 + (this.#chunks - withTerm + 0.5) / (withTerm + 0.5))
      const length = K1 * (1 - B + B * (chars / Math.max(1, average)))
      score += (this.#terms[index]?.weight ?? 1) * rarity * ((count * (K1 + 1)) / (count + length))
    }
    return score
  }
}
