import type { Json } from '../../core/json.js'

/** A command, and what it must answer. Phaselock runs it and compares outside of the process. */
export interface Example {
  /** The criterion it belongs to, as people read it; null: the task as a whole. */
  readonly criterion: string | null
  /** Counted from 1, for each criterion. */
  readonly number: number
  readonly run: string
  readonly stdin: string
  readonly expect: ExpectedResult
}

export interface ExpectedResult {
  /** 0 unless the example says otherwise. */
  readonly exitCode: number
  readonly stdout: string | null
  /** Absent: nothing is expected. */
  readonly stdoutJson?: Json
  /** An RE2 pattern. */
  readonly matches: string | null
  /** `run` starts a server, which is asked this. */
  readonly http: HttpExpected | null
}

export interface HttpExpected {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** What is sent; an object is sent as JSON. */
  readonly body: Json
  /** 200 unless the example says otherwise. */
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
