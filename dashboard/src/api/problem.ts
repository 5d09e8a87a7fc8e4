/** A refusal of the server (RFC 9457), or a request that got no answer. */
export class ApiProblem extends Error {
  constructor(
    /** 0 when the server did not answer. */
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    /** The whole document of the problem. */
    readonly body: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail)
    this.name = 'ApiProblem'
  }

  /** What to do about it. */
  get remedy(): string | null {
    return typeof this.body.remedy === 'string' ? this.body.remedy : null
  }

  /** Whether the caller has no valid session. */
  get isLoggedOut(): boolean {
    return LOGGED_OUT.has(this.code)
  }
}

const LOGGED_OUT: ReadonlySet<string> = new Set(['token_missing', 'token_invalid', 'session_ended'])

/** The problem of an answer that is not a success. */
export async function readProblem(response: Response): Promise<ApiProblem> {
  const body: Readonly<Record<string, unknown>> = await response.json().catch(() => ({}))
  const text = (name: string): string | null => (typeof body[name] === 'string' ? body[name] : null)
  return new ApiProblem(
    response.status,
    text('code') ?? `http_${response.status}`,
    text('detail') ?? text('title') ?? `The server answered ${response.status}.`,
    body,
  )
}

/** Any thrown value as a problem that a page can show. */
export function toProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error
  return new ApiProblem(0, 'page_error', error instanceof Error ? error.message : String(error))
}
