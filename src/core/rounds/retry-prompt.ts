import { charCount, firstChars } from './code-points.js'

/** Characters of a lost stream that the next prompt carries. */
export const RETRY_BUFFER_CHARS_MAX = 120_000

export interface RetryPrompt {
  readonly text: string
  readonly isCut: boolean
}

/** What an agent is sent when its turn is begun again: what it must do, and what it had streamed, so that nothing is done twice. */
export function retryPrompt(message: string, buffer: string): RetryPrompt {
  if (buffer.trim() === '') return { text: message, isCut: false }
  const chars = charCount(buffer)
  const isCut = chars > RETRY_BUFFER_CHARS_MAX
  const size = isCut ? `, cut: the first ${RETRY_BUFFER_CHARS_MAX} of ${chars} characters` : ` (${chars} characters)`
  const made = firstChars(buffer, RETRY_BUFFER_CHARS_MAX)
  return { text: `${message}\n\nWhat you had written before this restart${size}:\n${made}`, isCut }
}
