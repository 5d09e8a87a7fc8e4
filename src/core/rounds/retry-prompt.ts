import { thousands } from '../rules/words.js'
import { charCount, lastChars } from './code-points.js'

/** Characters of a lost stream that the next prompt carries. */
export const RETRY_BUFFER_CHARS_MAX = 120_000

export interface RetryPrompt {
  readonly text: string
  /** Characters that are left out: the first ones, since an agent goes on where it ended. */
  readonly cutChars: number
}

/** What an agent is sent when its turn is begun again: what it must do, and what it had streamed, so that nothing is done twice. */
export function retryPrompt(message: string, buffer: string): RetryPrompt {
  const chars = charCount(buffer)
  if (buffer.trim() === '') return { text: message, cutChars: 0 }
  const cutChars = Math.max(0, chars - RETRY_BUFFER_CHARS_MAX)
  const title =
    cutChars === 0
      ? 'This is what you wrote before:'
      : `This is the end of what you wrote before (the first ${thousands(cutChars)} of ${thousands(chars)} characters are left out):`
  return { text: [message, '', title, '', lastChars(buffer, RETRY_BUFFER_CHARS_MAX)].join('\n'), cutChars }
}
