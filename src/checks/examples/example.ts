import type { Json } from '../../core/json.js'

/** A command and its expected answer. Phaselock runs it and compares outside the process. */
export interface Example {
  /** The criterion it belongs to, as text; null: the whole task. */
  readonly criterion: string | null
  /** Counted from 1, for each criterion. */
  readonly number: number
  readonly run: string
  readonly stdin: string
  readonly expect: ExpectedResult
}

export interface ExpectedResult {
  /** Default 0. */
  readonly exitCode: number
  readonly stdout: string | null
  /** Absent: nothing is expected. */
  readonly stdoutJson?: Json
  /** An RE2 pattern. */
  readonly matches: string | null
  /** `run` starts a server, and this request is sent to it. */
  readonly http: HttpExpected | null
}

export interface HttpExpected {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The request body; an object is sent as JSON. */
  readonly body: Json
  /** Default 200. */
  readonly status: number
  readonly json?: Json
  readonly text: string | null
  readonly matches: string | null
}

export const EXAMPLE_LIMITS = {
  examples: 50,
  runChars: 4096,
  textBytes: 64 * 1024,
  patternChars: 1000,
  headers: 20,
} as const

/** The result of one example; `difference` is null when it holds. */
export interface ExampleOutcome {
  readonly example: Example
  readonly difference: string | null
}

/** The results of the examples of a gate. */
export interface ExamplesSeen {
  readonly visible: readonly ExampleOutcome[]
  readonly heldOut: readonly ExampleOutcome[]
}
