import type { JsonObject } from '../json.js'

/** Commands that record test runs and changes of test setup. */
export type TestsCommand =
  | {
      readonly type: 'record_baseline'
      readonly run: string
      readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number }
      readonly flaky: number
      readonly reason: string | null
    }
  /** Held-out examples failed; `run`: where the outcome of each is stored. */
  | { readonly type: 'record_held_out'; readonly run: string }
  | {
      readonly type: 'pin_setup'
      readonly digest: string
      readonly paths: readonly string[]
      readonly files: Readonly<Record<string, string>>
      readonly run: string
      readonly observed: readonly JsonObject[]
    }
