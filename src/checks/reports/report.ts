/** Values of `commands.*.format` for a command that runs tests. */
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

export interface ReportInput {
  readonly format: TestFormat
  readonly stdout: string
  readonly stderr: string
  /** Null when no report is configured; empty when it was not written: the output is then not used instead. */
  readonly reportText: string | null
  readonly exitCode: number
  /** The folder the command ran in: paths below it become relative, so that ids do not depend on it. */
  readonly root?: string
  /** The output was cut before it was passed in. */
  readonly outputCut?: boolean
}

export type ReportReading =
  | { readonly result: 'read'; readonly report: TestReport }
  /** The exit code contradicts the results: neither can be relied on. */
  | { readonly result: 'contradiction'; readonly report: TestReport; readonly reason: string }
  /** Counts are unknown, or disagree with each other: only the exit code is known. */
  | { readonly result: 'unreadable'; readonly reason: string }

type Unreadable = Extract<ReportReading, { result: 'unreadable' }>

export function makeUnreadable(reason: string): Unreadable {
  return { result: 'unreadable', reason }
}

/** The end of each stream is kept, because summaries come last. */
export const OUTPUT_CHARS_MAX = 4 * 1024 * 1024
export const OUTPUT_LINES_MAX = 300_000
/** Longer lines are cut before they are read. */
export const LINE_CHARS_MAX = 4_000
/** A longer report is not read: half a document is useless. */
export const REPORT_CHARS_MAX = 8 * 1024 * 1024
export const TESTS_MAX = 20_000
export const LOAD_FAILURES_MAX = 200
export const ID_CHARS_MAX = 400
export const MESSAGE_CHARS_MAX = 500
export const FILE_CHARS_MAX = 400
