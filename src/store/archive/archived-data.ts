import { createHmac, type KeyObject } from 'node:crypto'
import type { Row } from '../database.js'
import { findChainKey } from '../key-ring.js'

/** The type of the event that records an archive. */
export const ARCHIVED_TYPE = 'tasks_archived'

/** The event that records each archive, by the id of the archive. */
export type Archives = ReadonlyMap<string, number>

export function readArchives(rows: Iterable<{ readonly seq?: unknown; readonly data?: unknown }>): Archives {
  return new Map([...rows].map(({ seq, data }) => [String(JSON.parse(String(data)).archive), Number(seq)]))
}

const DATA = /^\{"archived":"([0-9a-f]{32})","seal":"([0-9a-f]{64})"\}$/

/** What is left of the data of an archived event: where it is, and a seal that binds that to the event. */
export function formatArchivedData(key: KeyObject, row: Row, archive: string): string {
  return JSON.stringify({ archived: archive, seal: computeSeal(key, describeRow(row), archive) })
}

/** Whether a row is the tombstone of an event that a recorded archive holds. */
export function isTombstone(row: Row, archives: Archives, key: KeyObject): boolean {
  const [, archive = '', seal = ''] = DATA.exec(String(row.data)) ?? []
  const recordedAt = archives.get(archive)
  if (recordedAt === undefined || Number(row.seq) >= recordedAt) return false
  return seal === computeSeal(findChainKey(key, recordedAt), describeRow(row), archive)
}

/** Everything of an event that stays in the store. */
function describeRow(row: Row): string {
  const { seq, stream, version, type, at, actor, epoch, phase, contract, prev_hash, hash } = row
  return JSON.stringify([seq, stream, version, type, at, actor, epoch, phase, contract, prev_hash, hash])
}

function computeSeal(key: KeyObject, described: string, archive: string): string {
  return createHmac('sha256', key).update(`phaselock-archived ${archive} ${described}`).digest('hex')
}
