import type { ApprovedSetup } from './observed-run.js'

export type TestsFact =
  /** The baseline: test results of the tree that work on the task began with. */
  | {
      readonly type: 'baseline_recorded'
      /** Where it is stored. */
      readonly run: string
      readonly passed: number
      readonly failed: number
      readonly skipped: number
      /** Tests whose result differed between runs. */
      readonly flaky: number
      /** Why it has no tests. */
      readonly reason: string | null
    }
  /** Held-out examples failed. The store has the examples and results, for operators and reviewers. */
  | {
      readonly type: 'held_out_failed'
      /** Where the outcome of each example is stored. */
      readonly run: string
      /** Failures since an operator last looked at the task, including this one. */
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
