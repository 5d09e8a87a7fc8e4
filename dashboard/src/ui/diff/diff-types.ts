/** The diff of a work tree, as `GET /tasks/{id}/diff` answers it. */
export interface TreeDiff {
  readonly files: readonly FileDiff[]
  readonly totals: { readonly files: number; readonly additions: number; readonly deletions: number }
  readonly truncated: boolean
  readonly available: boolean
  readonly unavailable_reason: string | null
}

export interface FileDiff {
  readonly path: string
  readonly status: 'added' | 'modified' | 'deleted'
  readonly binary: boolean
  readonly additions: number
  readonly deletions: number
  readonly unexplained: boolean
  readonly pinned: boolean
  readonly hunks: readonly DiffHunk[]
  readonly omitted: null | 'binary' | 'too_large' | 'too_many_files' | 'secret' | 'not_kept'
}

export interface DiffHunk {
  readonly old_start: number
  readonly old_lines: number
  readonly new_start: number
  readonly new_lines: number
  /** Each begins with a space, `-`, `+`, or a backslash: the line before it ends the file without a line break. */
  readonly lines: readonly string[]
}
