/** Exit codes: 0 is success, the others say who has to act. */
export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3, interrupted: 4, timeout: 5 } as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends the command with a message for people. It is an answer, not a fault: no stack trace is shown. */
export class Stop extends Error {
  override readonly name = 'Stop'
  constructor(
    readonly exit: ExitCode,
    message: string,
    /** The same for programs; printed instead of the message with `--json`. */
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
  }
}

/** The problem document of a refusal; undefined for other errors. */
export function problemOf(error: unknown): Readonly<Record<string, unknown>> | undefined {
  return error instanceof Stop ? (error.details.problem as Readonly<Record<string, unknown>> | undefined) : undefined
}

/** The code of a refusal; undefined for other errors. */
export function codeOf(error: unknown): unknown {
  return problemOf(error)?.code
}
