import type { Answer, Running } from '../http/harness.js'

/** A browser's side of a session: the cookie, and the CSRF token that changes carry. */
export interface BrowserSession {
  readonly cookie: string
  readonly csrf: string
  readonly answer: Answer
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

export async function logIn(
  run: Running,
  body: { readonly code?: string; readonly operator_token?: string },
): Promise<BrowserSession> {
  const answer = await run.call('POST', '/login', null, body)
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const csrf = String(answer.body.csrf_token)
  return {
    ...{ cookie, csrf, answer },
    call: (method, path, sent, headers = {}) =>
      run.call(method, path, null, method === 'GET' ? undefined : (sent ?? {}), {
        cookie,
        ...(method === 'GET' ? {} : { 'x-csrf-token': csrf }),
        ...headers,
      }),
  }
}

/** A session from the code that the first start prints. */
export function logInFirst(run: Running): Promise<BrowserSession> {
  return logIn(run, { code: run.app.operators.codes.makeAtStart(true).code })
}
