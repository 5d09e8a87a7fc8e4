import type { GoEvents } from './languages/go-events.js'

/** Values of `commands.*.format` for commands that run tests. */
export const TEST_FORMATS = [
  'auto',
  'tap',
  'junit',
  'vitest',
  'jest',
  'pytest',
  'go',
  'cargo',
  'node',
  'mocha',
  'rspec',
  'phpunit',
  'maven',
  'trx',
] as const

export type TestFormat = (typeof TEST_FORMATS)[number]

/** The recognised format: `unittest` has no name in contracts, it is read as `auto` or `pytest`. */
export type RunnerFormat = Exclude<TestFormat, 'auto'> | 'unittest'

export type TestStatus = 'passed' | 'failed' | 'skipped' | 'todo'

export interface TestResult {
  /** Stable for a test across all runs that are read in the same format. */
  readonly id: string
  readonly status: TestStatus
  readonly file: string | null
  readonly message: string | null
}

export type LoadFailureKind = 'missing_module' | 'syntax' | 'other'

/** An error that kept tests from running at all: a file that does not load, a suite whose set-up fails, a crash. */
export interface LoadFailure {
  readonly file: string | null
  readonly kind: LoadFailureKind
  /** The missing module or symbol. */
  readonly module: string | null
  readonly message: string
}

export interface TestReport {
  readonly format: RunnerFormat
  /** Where the counts come from. */
  readonly source: 'report' | 'output'
  readonly passed: number
  /** Includes tests that were announced and never reported. */
  readonly failed: number
  /** Includes tests marked as to do, or as expected to fail. */
  readonly skipped: number
  readonly tests: readonly TestResult[]
  /** Every counted test is listed in `tests`. */
  readonly complete: boolean
  readonly loadFailures: readonly LoadFailure[]
  /** A limit was reached: some results are left out. */
  readonly truncated: boolean
}

/** One of several report files of a run. */
export interface ReportFile {
  /** In the work tree. */
  readonly path: string
  readonly text: string
}

export interface ReportInput {
  readonly format: TestFormat
  readonly stdout: string
  readonly stderr: string
  /** Null when no report is configured; empty when it was not written: the output is then not used instead. */
  readonly reportText: string | null
  /** The report files that match a glob, sorted by path; absent if the contract names a single report or none. */
  readonly reportFiles?: readonly ReportFile[] | undefined
  readonly exitCode: number
  /** The folder the command ran in: paths below it become relative, so that ids do not depend on it. */
  readonly root?: string
  /** The output was cut before it was passed in. */
  readonly outputCut?: boolean
  /** Events of `go test -json`, read from standard output during the run; complete even if the output was cut. */
  readonly goEvents?: GoEvents
  /** The only runner that reported on the socket of Phaselock: its output is meant where a test prints that of another. */
  readonly runner?: string | undefined
}

export type ReportReading =
  | { readonly result: 'read'; readonly report: TestReport }
  /** The exit code contradicts the results: neither can be relied on. */
  | { readonly result: 'contradiction'; readonly report: TestReport; readonly reason: string }
  /** Counts are not known, or disagree with each other: only the exit code is known. `isCut`: a part is missing. */
  | { readonly result: 'unreadable'; readonly reason: string; readonly isCut?: true }

type Unreadable = Extract<ReportReading, { result: 'unreadable' }>

export function makeUnreadable(reason: string): Unreadable {
  return { result: 'unreadable', reason }
}

/** A run with missing results: the remaining ones do not count. */
export function makeCutOff(reason: string): Unreadable {
  return { result: 'unreadable', reason, isCut: true }
}

/** Of longer output only the events of `go test -json` are read; other formats count as cut off. */
export const OUTPUT_CHARS_MAX = 8 * 1024 * 1024
export const OUTPUT_LINES_MAX = 500_000
/** Longer lines are cut before they are looked at. */
export const LINE_CHARS_MAX = 4_000
/** Longer reports are not read, because part of a document cannot be parsed. Several files count together. */
export const REPORT_CHARS_MAX = 32 * 1024 * 1024
export const TESTS_MAX = 100_000
export const LOAD_FAILURES_MAX = 200
export const ID_CHARS_MAX = 400
export const MESSAGE_CHARS_MAX = 500
export const FILE_CHARS_MAX = 400
