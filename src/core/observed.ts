/** One test of an observed run. */
export interface ObservedTest {
  readonly id: string
  readonly status: 'passed' | 'failed' | 'skipped' | 'todo'
  readonly file: string | null
  /** What a failing test said. */
  readonly message: string | null
}

/** Something that kept tests from running. */
export interface ObservedLoadFailure {
  readonly file: string | null
  readonly kind: 'missing_module' | 'syntax' | 'other'
  readonly message: string
}

/** What Phaselock saw when it ran one of the contract's commands on a tree. */
export interface ObservedRun {
  readonly name: string
  readonly command: string
  readonly exitCode: number
  /** Null where the counts cannot be known; `problem` says why. */
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number } | null
  readonly tests: readonly ObservedTest[]
  /** Every test that was counted is in `tests`. */
  readonly isComplete: boolean
  readonly loadFailures: readonly ObservedLoadFailure[]
  /** Line coverage in percent, where the command reports one. */
  readonly coverage: number | null
  /** It was stopped before it ended by itself. */
  readonly wasStopped: boolean
  /** Why the run cannot be relied on: it timed out, contradicts itself, or says nothing that can be read. */
  readonly problem: string | null
  readonly durationMs: number
  readonly treeHash: string
}

/** The tests of a RED run that a GREEN run must have run. */
export interface PinnedRun {
  readonly ids: readonly string[]
  /** Files that did not load at RED: their tests are first known at GREEN, and there must be some. */
  readonly unloaded: readonly string[]
}
