import type { ApprovedSetup } from './observed-run.js'

export type TestsFact =
  /** What the tests said of the tree that work on the task began with. */
  | {
      readonly type: 'baseline_recorded'
      /** Where it is stored. */
      readonly run: string
      readonly passed: number
      readonly failed: number
      readonly skipped: number
      /** Tests whose result differed between runs. */
      readonly flaky: number
      /** Why there are no tests in it. */
      readonly reason: string | null
    }
  /** Held-out examples did not hold. What they are and what came is in the store, for operators and reviewers. */
  | {
      readonly type: 'held_out_failed'
      /** Where the outcome of each example is stored. */
      readonly run: string
      /** How often they failed since an operator looked at the task, this time included. */
      readonly failures: number
    }
  | {
      readonly type: 'tests_pinned'
      readonly files: Readonly<Record<string, string>>
      /** Where the tests of the observed run are stored. */
      readonly run?: string | null
      /** Test setup that a person approved, and the run in which the tests failed under it. */
      readonly setup?: ApprovedSetup
    }
