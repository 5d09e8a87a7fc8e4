import { textOf } from './json.js'
import { claimsIn } from './token.js'

/** A reviewer's verdict in a consensus vote of a gate. */
export type Verdict = 'approve' | 'request_changes'

/** The council of a participant's token; null for any other token. */
export function coordinationIn(token: string): string | null {
  return textOf(claimsIn(token).run_id)
}
