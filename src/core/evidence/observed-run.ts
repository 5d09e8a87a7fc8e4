import type { JsonObject } from '../json.js'
import type { InvertedRun } from './inverted-run.js'

/** One test of an observed run. */
export type ObservedTest = {
  readonly id: string
  readonly status: 'passed' | 'failed' | 'skipped' | 'todo'
  readonly file: string | null
  /** The failure message of a test. */
  readonly message: string | null
}

/** An error that kept tests from running. */
export type ObservedLoadFailure = {
  readonly file: string | null
  readonly kind: 'missing_module' | 'syntax' | 'other'
  /** The missing module or symbol; absent in records of an older version. */
  readonly module?: string | null
  readonly message: string
}

/** Why a run is unusable, and its last output. For display: no gate depends on it. */
export interface RunTrouble {
  /** As text, such as `command not found` or `timed out`. */
  readonly cause: string
  /** The output line or fact that shows the cause. */
  readonly detail: string
  readonly mendedBy: 'agent' | 'operator'
  readonly remedy: string
  /** Bounded, printable and without secrets. */
  readonly lastLines: readonly string[]
  /** The sentence that names the file whose SIGUSR1 was refused; absent if nothing suggests that. */
  readonly refusedSignal?: string
}

/** In wire format. */
export function toTroubleView({ cause, mendedBy, remedy, lastLines }: RunTrouble): JsonObject {
  return { cause, mended_by: mendedBy, remedy, last_lines: lastLines }
}

/** Lines that tests could run, and those that they ran. */
type CoveredLines = {
  readonly found: number
  readonly hit: number
}

/** What Phaselock observed when it ran one of the contract's commands on a tree. */
export interface ObservedRun {
  readonly name: string
  readonly command: string
  readonly exitCode: number
  /** Null if the counts are unknown; `problem` says why. */
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number } | null
  readonly tests: readonly ObservedTest[]
  /** True if `tests` lists every counted test. */
  readonly isComplete: boolean
  /** How the results were read, such as `jest`; missing where they were not. */
  readonly format?: string
  readonly loadFailures: readonly ObservedLoadFailure[]
  /** Line coverage in percent, if the command reports it. */
  readonly coverage: number | null
  /** The line counts behind the percentage. */
  readonly lines?: CoveredLines
  /** It was stopped before it ended. */
  readonly wasStopped: boolean
  /** Why the run is unusable: it timed out, contradicts itself, or has no readable result. */
  readonly problem: string | null
  /** Set if the run failed or is unusable, and no failing test explains it. */
  readonly trouble?: RunTrouble
  /** Set if the contract lets processes of the run send SIGUSR1. */
  readonly allowedSigusr1?: true
  /** The services of the machine that the run could reach; absent if the contract names none. */
  readonly services?: readonly ServiceUse[]
  /** Set when the run wrote the files it is judged by: its results do not count. */
  readonly isVoid?: true
  /** Paths of the tree that were not in the view of the run: newer tests and dependencies. */
  readonly leftOut?: readonly string[]
  /** Ids of tests whose result differed between runs of this tree, if it ran more than once. */
  readonly flaky?: readonly string[]
  /** The result of the inverted run of new and changed tests; absent if there was none. */
  readonly inverted?: InvertedRun
  readonly durationMs: number
  readonly treeHash: string
  /** Tests that failed before the task and still fail, if they alone explain its exit code. */
  readonly explainedBy?: readonly string[]
}

/** A service that a run could reach, and how often it tried to. */
export type ServiceUse = {
  readonly name: string
  readonly address: string
  readonly connections: number
  /** Refused connections. */
  readonly refused: number
}

/** The baseline: test results of the tree that work on a task began with. */
export type Baseline = {
  readonly tests: readonly Pick<ObservedTest, 'id' | 'status' | 'file'>[]
  /** Ids of tests whose result differed between runs of the tree. */
  readonly flaky: readonly string[]
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number }
  /** True if `tests` lists every counted test. */
  readonly isComplete: boolean
  readonly loadFailures: readonly ObservedLoadFailure[]
  readonly exitCode: number
  /** Why no tests are known: nothing could be run. */
  readonly reason: string | null
  /** The coverage, or why it is not known; absent where no gate asks for it. */
  readonly coverage?: (CoveredLines & { readonly percent: number }) | { readonly reason: string }
}

/** The tests of a RED run that a GREEN run must include. */
export type PinnedRun = {
  readonly ids: readonly string[]
  /** Tests that failed; absent in records of an older version. */
  readonly failed?: readonly Pick<ObservedTest, 'id' | 'file'>[]
  /** Files that did not load at RED: GREEN must find tests in them. */
  readonly unloaded: readonly string[]
  /** The test setup; absent in records of an older version. */
  readonly harness?: PinnedHarness
  /** The setup of the other gate commands, by name. */
  readonly commands?: Readonly<Record<string, PinnedHarness>>
  /** How often each test file marked tests as skipped, todo or only. */
  readonly marks?: Readonly<Record<string, Readonly<Record<string, number>>>>
}

/** Test setup files: for each the hashes of the relevant parts, or of the whole file under `''`. */
export type PinnedHarness = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The fields of a run for expressions and the artifact `test_run_result`. `coverage` and `problem` may be absent. */
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
