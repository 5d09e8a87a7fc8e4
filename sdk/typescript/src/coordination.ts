import { textOf } from './json.js'
import { claimsIn } from './token.js'

/** What a reviewer's answer says where a gate asks for consensus. */
export type Verdict = 'approve' | 'request_changes'

/** The coordination that a participant's token is for; null for any other token. */
export function coordinationIn(token: string): string | null {
  return textOf(claimsIn(token).run_id)
}
