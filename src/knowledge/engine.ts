import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Embedder, EmbedderChoice, Loaded } from './embedder.js'
import { makeEndpointEmbedder } from './endpoint.js'
import { loadMiniLm } from './minilm.js'
import { SearchIndex } from './passages.js'
import type { SearchAnswer, Setup, Status } from './protocol.js'
import { type SearchRequest, search } from './search.js'
import { type Refreshed, refreshIndex, type SkippedFile } from './sources.js'
import { Watcher } from './watcher.js'
import { cutQuery } from './words.js'

const EMBEDDED_AT_ONCE = 16
const FAILURES_MAX = 3
const PROBLEM_CHARS_MAX = 300

/** The work of the thread: keeps the index up to date, computes vectors in the background, answers. */
export class Engine {
  readonly #setup: Setup
  readonly #watcher: Watcher | null
  readonly #loading: Promise<Embedder | null>
  #index: SearchIndex
  #refreshing: Promise<Refreshed> | null = null
  #again: Promise<Refreshed> | null = null
  #embedding: Promise<void> | null = null
  #problem: string | null = null
  #model: string | null = null
  #isModelMissing = false
  // Entries of an earlier run may belong to another phase by now: until the first pass is over, only files it has read
  // are found.
  #seen: Set<string> | null = new Set()
  #isClosing = false
  #skipped: readonly SkippedFile[] = []

  constructor(setup: Setup) {
    this.#setup = setup
    this.#index = new SearchIndex(setup.file)
    this.#watcher = setup.isWatching ? new Watcher(setup.sources.root, () => this.#background()) : null
    this.#loading = this.#load(setup.embedder)
    this.#background()
  }

  async search(request: SearchRequest): Promise<SearchAnswer> {
    const started = performance.now()
    const query = cutQuery(request.query)
    const vector = query === '' ? null : await this.#vectorOf(query)
    const index = this.#index
    const results = query === '' ? [] : search(index, { ...request, query }, { vector, files: this.#seen })
    return {
      results,
      totalTokens: results.reduce((sum, { tokens }) => sum + tokens, 0),
      method: vector === null && (query !== '' || this.#model === null) ? 'lexical' : 'hybrid',
      isDegraded: this.#model === null || (vector === null && query !== '') || this.#seen !== null || index.pending > 0,
      isModelMissing: this.#isModelMissing,
      queryTimeMs: performance.now() - started,
      indexVersion: index.version,
    }
  }

  /** Reads the tree again, after the current work. */
  refresh(): Promise<Refreshed> {
    if (this.#refreshing === null) return this.#start()
    this.#again ??= this.#refreshing.then(
      () => this.#start(),
      () => this.#start(),
    )
    return this.#again
  }

  /** Waits until every passage has its vector. */
  async settle(): Promise<void> {
    await this.refresh()
    await this.#embed()
  }

  getStatus(): Status {
    return {
      files: this.#index.files.size,
      chunks: this.#index.entries.size,
      pending: this.#index.pending,
      indexVersion: this.#index.version,
      model: this.#model,
      problem: this.#problem,
      isFirstPass: this.#seen !== null,
      skipped: this.#skipped,
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#watcher?.close()
    await Promise.allSettled([this.#refreshing, this.#embedding])
    const embedder = await this.#loading
    await embedder?.close()
    this.#index.close()
  }

  async #load(choice: EmbedderChoice): Promise<Embedder | null> {
    const loaded = await loadEmbedder(choice)
    if (!loaded.ok) {
      this.#problem = loaded.reason
      this.#isModelMissing = loaded.isMissing
      return null
    }
    this.#index.useModel(loaded.embedder.id)
    this.#model = loaded.embedder.id
    return loaded.embedder
  }

  // Without a vector of the query the words alone decide: a search never fails because a model is missing.
  async #vectorOf(query: string): Promise<Float32Array | null> {
    const embedder = await this.#loading
    if (embedder === null) return null
    try {
      return await embedder.embed(query)
    } catch (error) {
      this.#problem = formatError(error)
      return null
    }
  }

  #background(): void {
    if (this.#isClosing) return
    this.refresh().then(
      () => this.#embed(),
      (error) => {
        this.#problem = formatError(error)
        this.#watcher?.follow([''])
      },
    )
  }

  #start(): Promise<Refreshed> {
    this.#again = null
    const running = this.#refreshOnce().finally(() => {
      if (this.#refreshing === running) this.#refreshing = null
    })
    this.#refreshing = running
    return running
  }

  async #refreshOnce(): Promise<Refreshed> {
    try {
      const refreshed = await refreshIndex(this.#index, this.#setup.sources, {
        isClosing: () => this.#isClosing,
        present: this.#seen ?? new Set(),
      })
      this.#skipped = refreshed.skipped
      this.#seen = null
      this.#watcher?.follow(refreshed.folders)
      return refreshed
    } catch (error) {
      // The memory may no longer match the file.
      if (!this.#isClosing) await this.#reopen()
      throw error
    }
  }

  async #reopen(): Promise<void> {
    this.#index.close()
    this.#index = new SearchIndex(this.#setup.file)
    if (this.#model !== null) this.#index.useModel(this.#model)
  }

  #embed(): Promise<void> {
    this.#embedding ??= this.#embedAll().finally(() => {
      this.#embedding = null
    })
    return this.#embedding
  }

  async #embedAll(): Promise<void> {
    const embedder = await this.#loading
    if (embedder === null) return
    let failures = 0
    while (!this.#isClosing && failures < FAILURES_MAX) {
      const batch = this.#index.listWithoutVector(EMBEDDED_AT_ONCE)
      if (batch.length === 0) return
      for (const { textHash, text } of batch) {
        if (this.#isClosing || failures >= FAILURES_MAX) return
        try {
          this.#index.putVector(textHash, await embedder.embed(text))
          failures = 0
        } catch (error) {
          failures += 1
          this.#problem = formatError(error)
        }
        await nextTurn()
      }
    }
  }
}

async function loadEmbedder(choice: EmbedderChoice): Promise<Loaded> {
  switch (choice.type) {
    case 'packaged':
      return loadMiniLm(choice.folder)
    case 'endpoint':
      return { ok: true, embedder: makeEndpointEmbedder(choice) }
    case 'none':
      return { ok: false, reason: 'no embedding model was asked for', isMissing: false }
  }
}

function formatError(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, PROBLEM_CHARS_MAX)
}
