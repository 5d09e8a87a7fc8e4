/** Every way in which an answer can fail. Codes never change meaning. */
export const FAILURES = {
  unreachable: { title: 'The server cannot be reached', remedy: 'Check base_url, and that the server runs.' },
  unauthorized: { title: 'The server does not accept the key', remedy: 'Check the variable that api_key_env names.' },
  rate_limited: { title: 'The server asks to wait', remedy: 'Try again later, or use fewer agents on this server.' },
  server_error: { title: 'The server failed', remedy: 'Try again later, and look at its log.' },
  request_rejected: { title: 'The server does not accept the request', remedy: 'Check model and base_url.' },
  redirected: {
    title: 'The server redirects to another address',
    remedy: 'Write the final address as base_url; redirects are not followed.',
  },
  not_a_stream: {
    title: 'The answer is not an event stream',
    remedy: 'Check that base_url names an endpoint of this provider that can stream.',
  },
  broken_stream: { title: 'The stream cannot be understood', remedy: 'Check that provider fits the server.' },
  disconnected: { title: 'The stream ended in the middle', remedy: 'Try again, and look at the log of the server.' },
  no_first_byte: { title: 'No answer began in time', remedy: 'Check whether the server is overloaded.' },
  silent: { title: 'The stream stopped sending', remedy: 'Check whether the server hangs.' },
  timed_out: { title: 'The time limit is reached', remedy: 'Ask for less, or raise the time limit.' },
  too_large: { title: 'The answer is too large', remedy: 'Ask for a shorter answer.' },
  too_many_responses: {
    title: 'The turn had too many answers without an end',
    remedy: 'Ask for fewer steps in one turn.',
  },
  aborted: { title: 'The answer was cancelled', remedy: 'Nothing needs to be done.' },
  not_started: {
    title: 'The agent could not be started',
    remedy: 'Check that its program is installed and on the PATH of the server.',
  },
  exited: { title: 'The agent ended with an error', remedy: 'Check its key and its model, and what it says here.' },
  script_ended: { title: 'The script has no step left', remedy: 'Add a step for every answer that is asked for.' },
  client_fault: { title: 'The request could not be made', remedy: 'Check the settings of this agent.' },
} as const

export type FailureCode = keyof typeof FAILURES

export interface ChatFailure {
  readonly code: FailureCode
  /** Never contains a key or parts of the conversation. */
  readonly message: string
  readonly remedy: string
  /** The HTTP status, if there was an answer. */
  readonly status: number | null
  /** How many requests were made. */
  readonly attempts: number
}

interface FailureFacts {
  readonly detail?: string
  readonly status?: number | null
  readonly attempts?: number
}

export function makeFailure(code: FailureCode, facts: FailureFacts = {}): ChatFailure {
  const { title, remedy } = FAILURES[code]
  const detail = facts.detail ?? ''
  return {
    code,
    message: detail === '' ? `${title}.` : `${title}: ${detail}`,
    remedy,
    status: facts.status ?? null,
    attempts: facts.attempts ?? 1,
  }
}
