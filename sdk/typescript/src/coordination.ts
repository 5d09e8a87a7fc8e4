import { textOf } from './json.js'
import { readClaims } from './token.js'

/** A reviewer's verdict in a consensus vote of a gate. */
export type Verdict = 'approve' | 'request_changes'

/** The council of a participant's token; null for any other token. */
export function findCouncilId(token: string): string | null {
  return textOf(readClaims(token).run_id)
}
