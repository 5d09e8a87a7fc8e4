/** Settings of the inverted run of new and changed tests. */
interface InvertedRules {
  /** Time limit in seconds; absent: three times the plain run, at least 60. */
  readonly maxSeconds?: number
  /** Whether criteria whose language or assertion library has no rules stay closed too. */
  readonly strict?: true
}

/** Which files are tests, and how they are pinned from RED to GREEN. */
export interface TestRules {
  readonly patterns: readonly string[]
  readonly allowChanges: boolean
  /** Data beside tests that a run may write, which is discarded with its view; never tests or their setup. */
  readonly mayWrite?: readonly string[]
  /** Whether tests that failed or were skipped before the task may still do so at GREEN. */
  readonly baseline?: 'tolerate' | 'forbid'
  /** How often the tests run on one tree, to find flaky ones. */
  readonly repeat?: number
  readonly inverted?: InvertedRules
}
