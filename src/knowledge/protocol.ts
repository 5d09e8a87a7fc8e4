import type { EmbedderChoice } from './embedder.js'
import type { FoundPassage, SearchRequest } from './search.js'
import type { SkippedFile, Sources } from './sources.js'

/** What the thread is started with. */
export interface Setup {
  readonly file: string
  readonly sources: Sources
  readonly embedder: EmbedderChoice
  readonly isWatching: boolean
}

export type Job =
  | { readonly type: 'search'; readonly request: SearchRequest }
  | { readonly type: 'refresh' }
  | { readonly type: 'settle' }
  | { readonly type: 'status' }
  | { readonly type: 'close' }

export interface ToThread {
  readonly id: number
  readonly job: Job
}

export type FromThread =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string }

export interface SearchAnswer {
  readonly results: readonly FoundPassage[]
  readonly totalTokens: number
  readonly method: 'hybrid' | 'lexical'
  /** True when meaning was not used, or not for every passage. */
  readonly isDegraded: boolean
  /** True when the packaged model was requested but is not installed. */
  readonly isModelMissing: boolean
  readonly queryTimeMs: number
  readonly indexVersion: number
}

export interface Status {
  readonly files: number
  readonly chunks: number
  /** Passages that have no vector yet. */
  readonly pending: number
  readonly indexVersion: number
  /** The embedder of the vectors; null: there are none. */
  readonly model: string | null
  /** Why there are no vectors, or no new ones. */
  readonly problem: string | null
  /** True until every file was looked at once since the start. */
  readonly isFirstPass: boolean
  readonly skipped: readonly SkippedFile[]
}
