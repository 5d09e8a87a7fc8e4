import type { EditJob, EditResult } from './apply-edits.js'

/** Work that may take long, done by a separate thread. */
export type FileJob =
  | (SearchPlace & { readonly type: 'glob'; readonly pattern: string; readonly limit: number })
  | (SearchPlace & {
      readonly type: 'grep'
      readonly pattern: string
      readonly glob: string | null
      readonly ignoresCase: boolean
      readonly limit: number
    })
  | (SearchPlace & { readonly type: 'search'; readonly query: string; readonly limit: number })
  | (EditJob & { readonly type: 'edit' })

export interface SearchPlace {
  readonly root: string
  /** Relative to the root; '.' is the root itself. */
  readonly start: string
}

export type GlobFound = {
  readonly paths: readonly string[]
  readonly truncated: boolean
}

export type GrepFound = {
  readonly matches: readonly { readonly path: string; readonly line: number; readonly text: string }[]
  readonly truncated: boolean
}

export type Snippet = {
  readonly path: string
  readonly line: number
  readonly end_line: number
  readonly score: number
  readonly snippet: string
}

export type SearchFound = {
  readonly results: readonly Snippet[]
  readonly truncated: boolean
}

export type Found = GlobFound | GrepFound | SearchFound | EditResult

export type ToWorker =
  | { readonly type: 'start'; readonly job: FileJob; readonly endsInMs: number }
  /** One byte per path: 1 if it may be seen. */
  | { readonly type: 'visible'; readonly mask: Uint8Array }

export type FromWorker =
  | { readonly type: 'ask'; readonly paths: readonly string[] }
  | { readonly type: 'done'; readonly found: Found }
  | { readonly type: 'refused'; readonly detail: string; readonly code: 'tool_failed' | 'invalid_regex' }
  | { readonly type: 'broken'; readonly message: string; readonly errno: string }
