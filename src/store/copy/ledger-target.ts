import type { LedgerPart } from './ledger-part.js'
import type { LedgerSummary } from './read-verified.js'

/** An empty store that a ledger is copied into. Nothing is in it before `finish`. */
export interface LedgerTarget {
  write(part: LedgerPart): Promise<void>
  finish(summary: Pick<LedgerSummary, 'head' | 'streams'>): Promise<void>
  /** Gives up; what was written is gone. */
  abort(): Promise<void>
}
