/** Why an upstream server could not do what was asked: a normal outcome, on its way to whoever words the answer. */
export class UpstreamFailure extends Error {
  constructor(
    message: string,
    /** The server is not to be used again. */
    readonly isFatal: boolean,
    cause?: unknown,
  ) {
    super(message, { cause })
  }
}

/** In one line, with the reason beneath where there is one: "fetch failed" alone says nothing. */
export function formatMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  const message = cause instanceof Error ? `${error.message} (${cause.message})` : error.message
  return message.replaceAll(/\s+/g, ' ')
}

/** The server could not even say which tools it has: nothing was called yet. */
export class NotListed extends UpstreamFailure {
  constructor(failure: UpstreamFailure) {
    super(failure.message, failure.isFatal, failure)
  }
}
