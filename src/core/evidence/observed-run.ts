import type { JsonObject } from '../json.js'
import type { InvertedRun } from './inverted-run.js'

/** One test of an observed run. */
export type ObservedTest = {
  readonly id: string
  readonly status: 'passed' | 'failed' | 'skipped' | 'todo'
  readonly file: string | null
  /** What a failing test said. */
  readonly message: string | null
}

/** Something that kept tests from running. */
export type ObservedLoadFailure = {
  readonly file: string | null
  readonly kind: 'missing_module' | 'syntax' | 'other'
  /** The module or the symbol that is not there; missing where an older version recorded it. */
  readonly module?: string | null
  readonly message: string
}

/** Why a run cannot be used, and what it wrote last. For people and agents to read: no gate is decided by it. */
export interface RunTrouble {
  /** In plain words, such as `command not found` or `timed out`. */
  readonly cause: string
  /** The line or the circumstance that shows it. */
  readonly detail: string
  readonly mendedBy: 'agent' | 'operator'
  readonly remedy: string
  /** Bounded, printable and without secrets. */
  readonly lastLines: readonly string[]
}

/** In the words of the wire. */
export function toTroubleView({ cause, mendedBy, remedy, lastLines }: RunTrouble): JsonObject {
  return { cause, mended_by: mendedBy, remedy, last_lines: lastLines }
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
  /** How the results were read, such as `jest`; missing where they were not. */
  readonly format?: string
  readonly loadFailures: readonly ObservedLoadFailure[]
  /** Line coverage in percent, where the command reports one. */
  readonly coverage: number | null
  /** It was stopped before it ended by itself. */
  readonly wasStopped: boolean
  /** Why the run cannot be relied on: it timed out, contradicts itself, or says nothing that can be read. */
  readonly problem: string | null
  /** Set where the run failed or cannot be relied on, and no failing test says why. */
  readonly trouble?: RunTrouble
  /** Set where the contract lets processes of the run send SIGUSR1. */
  readonly allowedSigusr1?: true
  /** Set when the run wrote what it is judged by: nothing that it says counts. */
  readonly isVoid?: true
  /** What is in the tree and was not in the view of the run: tests and dependencies that came since. */
  readonly leftOut?: readonly string[]
  /** Ids of tests whose result differed between runs of this tree, where it was run more than once. */
  readonly flaky?: readonly string[]
  /** What the inverted run of new and changed tests showed; missing where none was made. */
  readonly inverted?: InvertedRun
  readonly durationMs: number
  readonly treeHash: string
  /** Tests that failed before the task and still do, where they alone explain its exit code. */
  readonly explainedBy?: readonly string[]
}

/** What the tests said of the tree that work on a task began with. */
export type Baseline = {
  readonly tests: readonly Pick<ObservedTest, 'id' | 'status' | 'file'>[]
  /** Ids of tests whose result differed between runs of the tree. */
  readonly flaky: readonly string[]
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number }
  /** Every test that was counted is in `tests`. */
  readonly isComplete: boolean
  readonly loadFailures: readonly ObservedLoadFailure[]
  readonly exitCode: number
  /** Why no test of it is known: nothing could be run. */
  readonly reason: string | null
}

/** The tests of a RED run that a GREEN run must have run. */
export type PinnedRun = {
  readonly ids: readonly string[]
  /** Files that did not load at RED: their tests are first known at GREEN, and there must be some. */
  readonly unloaded: readonly string[]
  /** What decided how the tests were run; missing where an older version recorded the run. */
  readonly harness?: PinnedHarness
  /** What decided what the other commands of gates do, by their names. */
  readonly commands?: Readonly<Record<string, PinnedHarness>>
  /** How often each test file marked tests as skipped, as to do or as the only ones. */
  readonly marks?: Readonly<Record<string, Readonly<Record<string, number>>>>
}

/** Files that decide how tests are run: for each the hashes of the parts that count, or of all of it under `''`. */
export type PinnedHarness = Readonly<Record<string, Readonly<Record<string, string>>>>

/** What expressions and the artifact `test_run_result` can read of a run. `coverage` and `problem` may be missing. */
export const OBSERVED_RUN_MEMBERS = [
  'command',
  'exit_code',
  'passed',
  'failed',
  'skipped',
  'counts_known',
  'tests',
  'tests_total',
  'load_failures',
  'coverage',
  'problem',
  'duration_ms',
  'tree_hash',
  'grade',
] as const
export type ObservedRunMember = (typeof OBSERVED_RUN_MEMBERS)[number]

/** Test setup that was changed after RED and approved by a person, with the runs in which the tests failed under it. */
export interface ApprovedSetup {
  readonly approvalId: string
  readonly digest: string
  readonly paths: readonly string[]
  readonly observed: readonly JsonObject[]
}
