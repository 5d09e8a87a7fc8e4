import { ApiProblem, readProblem } from './problem.js'

const BASE = '/api/v1'

type Value = string | number | boolean | null | undefined

/** What a call adds to its path: `{id}` in the path is filled from `path`. */
export interface CallOptions {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, Value>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

let csrfToken: string | null = null
let onLoggedOut: () => void = () => undefined

/** The token that every changing call of this session carries. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token
}

/** Called when the session has ended. */
export function setLoggedOutListener(listener: () => void): void {
  onLoggedOut = listener
}

/** Calls the REST API. A refusal is thrown as an ApiProblem. */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options)
  if (response.ok) return (await response.json()) as T
  const problem = await readProblem(response)
  if (problem.isLoggedOut) onLoggedOut()
  throw problem
}

export const api = {
  get: <T>(path: string, options?: CallOptions): Promise<T> => call<T>('GET', path, options),
  post: <T>(path: string, options?: CallOptions): Promise<T> => call<T>('POST', path, { body: {}, ...options }),
  patch: <T>(path: string, options?: CallOptions): Promise<T> => call<T>('PATCH', path, { body: {}, ...options }),
}

/** The address of a call, for links and downloads. */
export function formatPath(path: string, options: CallOptions = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(options.path?.[name] ?? '')))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(options.query ?? {}))
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value))
  return `${BASE}${filled}${query.size === 0 ? '' : `?${query}`}`
}

async function send(method: string, path: string, options: CallOptions): Promise<Response> {
  const isChange = method !== 'GET'
  try {
    return await fetch(formatPath(path, options), {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(isChange ? { 'content-type': 'application/json' } : {}),
        ...(isChange && csrfToken !== null ? { 'x-csrf-token': csrfToken } : {}),
      },
      ...(isChange ? { body: JSON.stringify(options.body ?? {}) } : {}),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiProblem(0, 'server_unreachable', 'The server does not answer.', {
      remedy: 'Check that it is running, then try again.',
    })
  }
}
