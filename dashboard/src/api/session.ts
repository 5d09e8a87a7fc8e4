import { QueryClient } from '@tanstack/react-query'
import { api, setCsrfToken, setLoggedOutListener } from './client.js'
import { keys } from './keys.js'
import { ApiProblem } from './problem.js'

export interface Session {
  readonly session_id: string
  readonly operator: { readonly name: string; readonly role: string | null }
  readonly csrf_token: string
  readonly expires_at: string
  readonly came_from: 'first_code' | 'code' | 'token'
  readonly confirm: 'never' | 'native' | 'always'
  readonly passkeys: number
  readonly has_passphrase: boolean
  readonly may_register_passkey: boolean
}

type Farewell = 'ended' | 'left'

let farewell: Farewell | null = null

const RETRIES_MAX = 2

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say when something changed. Without a stream, an answer is asked for again after this time.
      staleTime: 30_000,
      retry: (count, error) => count < RETRIES_MAX && error instanceof ApiProblem && error.status === 0,
      refetchOnWindowFocus: false,
    },
  },
})

// The cookie cannot be seen from here. Without this mark, every visit to the login page would be a refusal in the ledger.
const MARK = 'phaselock-logged-in'

/** The session of this browser; null when nobody is logged in. */
export async function readSession(): Promise<Session | null> {
  if (localStorage.getItem(MARK) === null) return null
  try {
    const session = await api.get<Session>('/session')
    setCsrfToken(session.csrf_token)
    return session
  } catch (error) {
    if (error instanceof ApiProblem && error.isLoggedOut) return null
    throw error
  }
}

/** Logs in with a one-time code or an operator token. */
export async function logIn(word: { readonly code: string } | { readonly operator_token: string }): Promise<void> {
  const { csrf_token } = await api.post<{ readonly csrf_token: string }>('/login', { body: word })
  setCsrfToken(csrf_token)
  farewell = null
  localStorage.removeItem(MARK)
  localStorage.setItem(MARK, 'yes')
  await queryClient.fetchQuery({ queryKey: keys.session, queryFn: readSession, staleTime: 0 })
}

/** Ends the session and forgets everything that was loaded with it. */
export async function logOut(): Promise<void> {
  // Said before it is done: the stream of events ends with the session, often before this call is answered.
  farewell = 'left'
  try {
    await api.post('/logout')
  } catch (error) {
    farewell = null
    throw error
  }
  endSession('left')
}

/** Why nobody is logged in any more: the session ended, or its operator left; null when this page saw no session. */
export function getFarewell(): Farewell | null {
  return farewell
}

/** Forgets everything that was loaded: the next page is the login page. */
export function endSession(why: Farewell): void {
  // Calls that were under way when somebody left are refused afterwards.
  farewell ??= why
  setCsrfToken(null)
  localStorage.removeItem(MARK)
  queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== keys.session[0] })
  queryClient.setQueryData(keys.session, null)
}

setLoggedOutListener(() => endSession('ended'))

// Another tab of this browser logged in: this one goes on where it was.
addEventListener('storage', ({ key, newValue }) => {
  if (key === MARK && newValue !== null && queryClient.getQueryData(keys.session) === null)
    void queryClient.fetchQuery({ queryKey: keys.session, queryFn: readSession, staleTime: 0 })
})
