import type { Database, Row } from '../store/database.js'
import { type Chunk, formatEmbeddedText } from './chunk.js'
import { toVector } from './embedder.js'
import type { Metadata } from './metadata.js'
import { openSearchFile } from './schema.js'
import { formatNames } from './words.js'

/** A passage in memory; its words are in the file. */
export interface Entry {
  readonly id: number
  readonly file: string
  readonly ordinal: number
  readonly section: number
  readonly textHash: string
  readonly metadata: Metadata
  vector: Float32Array | null
}

interface Passage {
  readonly path: readonly string[]
  readonly startLine: number
  readonly tokens: number
  readonly content: string
}

interface Pending {
  readonly textHash: string
  readonly text: string
}

/** Which passages have a word, and how strongly, as parallel lists. */
export interface Strengths {
  readonly ids: readonly number[]
  readonly values: readonly number[]
}

const STRENGTHS = `
  WITH hits AS MATERIALIZED (SELECT rowid AS id, bm25(words, 4.0, 2.0, 1.0, 1.0) AS score FROM words WHERE words MATCH ?)
  SELECT json_group_array(id) AS ids, json_group_array(score) AS scores FROM hits`
const STRENGTHS_KEPT_MAX = 2_000_000
const WORDS_KEPT_MAX = 5_000

interface NewFile {
  readonly path: string
  readonly hash: string
  readonly metadata: Metadata
  /** Its title in the front matter. */
  readonly title: string
  readonly chunks: readonly Chunk[]
}

/** The search file and what is kept of it in memory. Used by one thread alone. */
export class SearchIndex {
  readonly #database: Database
  readonly #files = new Map<
    string,
    { readonly id: number; readonly hash: string; readonly chunks: readonly number[] }
  >()
  readonly #entries = new Map<number, Entry>()
  readonly #byText = new Map<string, Set<number>>()
  // For words that were searched since the last change.
  readonly #strengths = new Map<string, Strengths>()
  #strengthsKept = 0
  #model: string | null = null
  #version: number

  constructor(file: string) {
    this.#database = openSearchFile(file)
    this.#version = Number(this.#database.prepare('SELECT value FROM meta WHERE key = ?').get('version')?.value ?? 0)
    this.#load()
  }

  /** Changes whenever the searchable content changes. */
  get version(): number {
    return this.#version
  }

  get entries(): ReadonlyMap<number, Entry> {
    return this.#entries
  }

  get files(): ReadonlyMap<string, { readonly hash: string; readonly chunks: readonly number[] }> {
    return this.#files
  }

  /** How many passages have no vector of the current model. */
  get pending(): number {
    if (this.#model === null) return 0
    let count = 0
    for (const entry of this.#entries.values()) if (entry.vector === null) count += 1
    return count
  }

  /** Loads the vectors of a model from the file; those of others are dropped. */
  useModel(model: string): void {
    this.#model = model
    const others = this.#database.prepare('SELECT count(*) AS count FROM vectors WHERE model <> ?').get(model)
    if (Number(others?.count) > 0)
      this.#write(() => this.#database.prepare('DELETE FROM vectors WHERE model <> ?').run(model))
    // Removing unused vectors does not change the searchable content.
    this.#database
      .prepare('DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.text_hash = vectors.text_hash)')
      .run()
    for (const row of this.#database.prepare('SELECT text_hash, vector FROM vectors WHERE model = ?').iterate(model))
      this.#take(String(row.text_hash), toVector(row.vector as Uint8Array))
  }

  /** Replaces the file at a path. */
  put(file: NewFile): void {
    this.#write(() => {
      this.#drop(file.path)
      const { phases, isSealed, tags, workflow } = file.metadata
      const id = this.#insert(
        'INSERT INTO files (path, hash, phases, sealed, tags, workflow) VALUES (?, ?, ?, ?, ?, ?) RETURNING id',
        [file.path, file.hash, JSON.stringify(phases), isSealed ? 1 : 0, JSON.stringify(tags), workflow],
      )
      const chunks = file.chunks.map((chunk, ordinal) => this.#putChunk({ chunk, ordinal, file, id }))
      this.#files.set(file.path, { id, hash: file.hash, chunks })
    })
  }

  remove(path: string): void {
    if (this.#files.has(path)) this.#write(() => this.#drop(path))
  }

  /** Texts without a vector, at most `limit`. */
  listWithoutVector(limit: number): readonly Pending[] {
    const found = new Map<string, Pending>()
    for (const entry of this.#entries.values()) {
      if (entry.vector !== null || found.has(entry.textHash)) continue
      const passage = this.passage(entry.id)
      if (passage !== null)
        found.set(entry.textHash, { textHash: entry.textHash, text: formatEmbeddedText(passage.path, passage.content) })
      if (found.size >= limit) break
    }
    return [...found.values()]
  }

  putVector(textHash: string, vector: Float32Array): void {
    const model = this.#model
    if (model === null) return
    const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
    this.#write(() =>
      this.#database
        .prepare('INSERT OR REPLACE INTO vectors (text_hash, model, vector) VALUES (?, ?, ?)')
        .run(textHash, model, bytes),
    )
    this.#take(textHash, vector)
  }

  passage(id: number): Passage | null {
    const row = this.#database.prepare('SELECT path, start_line, tokens, content FROM chunks WHERE id = ?').get(id)
    if (row === undefined) return null
    const path = JSON.parse(String(row.path)) as readonly string[]
    return { path, startLine: Number(row.start_line), tokens: Number(row.tokens), content: String(row.content) }
  }

  /**
   * How strongly each passage has a word, from 0 to `STRENGTH_MAX`: the part of BM25 that depends on other passages
   * only through their mean length. A word in a heading counts four times, one in a parent heading twice.
   */
  computeStrengths(word: string): Strengths {
    const known = this.#strengths.get(word)
    if (known !== undefined) return known
    // A quoted word is not read as syntax. Lists are faster to transfer than rows.
    const row = this.#database.prepare(STRENGTHS).get(`"${word.replaceAll('"', '""')}"`)
    const ids = JSON.parse(String(row?.ids)) as readonly number[]
    const rarity = computeFts5Rarity(this.#entries.size, ids.length)
    const values = (JSON.parse(String(row?.scores)) as readonly number[]).map((score) => -score / rarity)
    const found = { ids, values }
    this.#strengthsKept += ids.length
    if (this.#strengthsKept > STRENGTHS_KEPT_MAX || this.#strengths.size >= WORDS_KEPT_MAX) this.#forgetStrengths()
    if (ids.length <= STRENGTHS_KEPT_MAX) this.#strengths.set(word, found)
    return found
  }

  close(): void {
    this.#database.close()
  }

  #load(): void {
    const chunks = this.#database.prepare(
      'SELECT id, ordinal, section, text_hash FROM chunks WHERE file = ? ORDER BY ordinal',
    )
    for (const row of this.#database.prepare('SELECT * FROM files').all()) {
      const path = String(row.path)
      const metadata = toMetadata(row)
      const ids: number[] = []
      for (const one of chunks.all(Number(row.id))) {
        const id = Number(one.id)
        this.#add({
          id,
          file: path,
          ordinal: Number(one.ordinal),
          section: Number(one.section),
          textHash: String(one.text_hash),
          metadata,
          vector: null,
        })
        ids.push(id)
      }
      this.#files.set(path, { id: Number(row.id), hash: String(row.hash), chunks: ids })
    }
  }

  #putChunk(given: { chunk: Chunk; ordinal: number; file: NewFile; id: number }): number {
    const { chunk, ordinal, file } = given
    const { section, textHash } = chunk
    const id = this.#insert(
      'INSERT INTO chunks (file, ordinal, section, path, start_line, tokens, content, text_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id',
      [given.id, ordinal, section, JSON.stringify(chunk.path), chunk.startLine, chunk.tokens, chunk.content, textHash],
    )
    this.#database
      .prepare('INSERT INTO words (rowid, heading, breadcrumb, body, names) VALUES (?, ?, ?, ?, ?)')
      .run(id, chunk.path.at(-1) ?? '', chunk.path.join(' > '), chunk.content, formatNames(file, chunk))
    const row =
      this.#model === null
        ? undefined
        : this.#database
            .prepare('SELECT vector FROM vectors WHERE text_hash = ? AND model = ?')
            .get(textHash, this.#model)
    const vector = row === undefined ? null : toVector(row.vector as Uint8Array)
    this.#add({ id, file: file.path, ordinal, section, textHash, metadata: file.metadata, vector })
    return id
  }

  #insert(sql: string, values: readonly (string | number | null)[]): number {
    return Number(this.#database.prepare(sql).get(...values)?.id)
  }

  #drop(path: string): void {
    const known = this.#files.get(path)
    if (known === undefined) return
    for (const id of known.chunks) {
      this.#database.prepare('DELETE FROM words WHERE rowid = ?').run(id)
      const entry = this.#entries.get(id)
      this.#entries.delete(id)
      if (entry === undefined) continue
      const same = this.#byText.get(entry.textHash)
      same?.delete(id)
      if (same?.size === 0) this.#byText.delete(entry.textHash)
    }
    this.#database.prepare('DELETE FROM chunks WHERE file = ?').run(known.id)
    this.#database.prepare('DELETE FROM files WHERE id = ?').run(known.id)
    this.#files.delete(path)
  }

  #add(entry: Entry): void {
    this.#entries.set(entry.id, entry)
    const same = this.#byText.get(entry.textHash) ?? new Set()
    this.#byText.set(entry.textHash, same.add(entry.id))
  }

  #take(textHash: string, vector: Float32Array): void {
    for (const id of this.#byText.get(textHash) ?? []) {
      const entry = this.#entries.get(id)
      if (entry !== undefined) entry.vector = vector
    }
  }

  #forgetStrengths(): void {
    this.#strengths.clear()
    this.#strengthsKept = 0
  }

  #write(work: () => void): void {
    this.#forgetStrengths()
    this.#database.exec('BEGIN')
    try {
      work()
      this.#version += 1
      this.#database
        .prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
        .run('version', String(this.#version))
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }
}

/** The limit of a word's strength when a passage consists only of that word. */
export const STRENGTH_MAX = 2.2

// As SQLite computes it, so that it can be divided out.
function computeFts5Rarity(rows: number, hits: number): number {
  const rarity = Math.log((rows - hits + 0.5) / (hits + 0.5))
  return rarity <= 0 ? 1e-6 : rarity
}

function toMetadata(row: Row): Metadata {
  return {
    phases: JSON.parse(String(row.phases)) as readonly string[],
    isSealed: row.sealed !== 0,
    tags: JSON.parse(String(row.tags)) as readonly string[],
    workflow: row.workflow === null ? null : String(row.workflow),
  }
}
