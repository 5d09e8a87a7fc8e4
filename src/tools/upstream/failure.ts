/** Why a call of an upstream server failed: a normal outcome, passed to the code that formats the answer. */
export class UpstreamFailure extends Error {
  constructor(
    message: string,
    /** The server must not be used again. */
    readonly isFatal: boolean,
    cause?: unknown,
  ) {
    super(message, { cause })
  }
}

/** In one line, with the underlying reason if there is one: "fetch failed" alone says nothing. */
export function formatMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  const message = cause instanceof Error ? `${error.message} (${cause.message})` : error.message
  return message.replaceAll(/\s+/g, ' ')
}

/** The server could not list its tools: nothing was called yet. */
export class NotListed extends UpstreamFailure {
  constructor(failure: UpstreamFailure) {
    super(failure.message, failure.isFatal, failure)
  }
}
