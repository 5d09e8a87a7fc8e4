import type { KeyObject } from 'node:crypto'
import type { PoolClient } from 'pg'
import { ARCHIVED_TYPE, isTombstone, readArchives } from '../archive/archived-data.js'
import type { Database, Row } from '../database.js'
import { ERASED_TYPE, fitsErasure, readErasures } from './erasures.js'

/** Events whose content was erased or archived, by what the ledger records. */
export interface ReplacedContents {
  /** Whether the event has exactly the content that its erasure or its archive left. */
  fits(row: Row, key: KeyObject, contentHash: string): boolean
}

const SELECT = "SELECT seq, type, data FROM event WHERE stream = 'system' AND type IN"
const TYPES = [ERASED_TYPE, ARCHIVED_TYPE] as const

export function readSqliteReplaced(database: Database): ReplacedContents {
  return makeReplaced(database.prepare(`${SELECT} (?, ?) ORDER BY version`).all(...TYPES))
}

export async function readPostgresReplaced(client: PoolClient): Promise<ReplacedContents> {
  return makeReplaced((await client.query(`${SELECT} ($1, $2) ORDER BY version`, [...TYPES])).rows)
}

function makeReplaced(rows: readonly Row[]): ReplacedContents {
  const erasures = readErasures(rows.filter(({ type }) => type === ERASED_TYPE))
  const archives = readArchives(rows.filter(({ type }) => type === ARCHIVED_TYPE))
  return {
    fits: (row, key, contentHash) =>
      fitsErasure(erasures.get(Number(row.seq)), key, { hash: row.hash, contentHash }) ||
      isTombstone(row, archives, key),
  }
}
