import type { Row } from '../database.js'
import type { ReplacedContents } from '../erasure/replaced-contents.js'
import type { LedgerPart } from './ledger-part.js'

/** A ledger that is read in one snapshot, while its server may go on writing. */
export interface LedgerSource {
  /** Events in the order of `seq`, then everything else. */
  read(): AsyncGenerator<LedgerPart>
  /** The table of streams, in the order of `num`. */
  listStreams(): Promise<readonly Row[]>
  listReplaced(): Promise<ReplacedContents>
  /** The names of things in the database that are not from this program; null: none. */
  findSchemaDifference(): Promise<string | null>
  close(): Promise<void>
}
