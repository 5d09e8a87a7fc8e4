import { createHash, createPublicKey, sign } from 'node:crypto'
import { toEventRow } from '../copy/ledger-part.js'
import { openPostgresSource } from '../copy/postgres-source.js'
import { type Database, openDatabase, type Row } from '../database.js'
import { type ReplacedContents, readSqliteReplaced } from '../erasure/replaced-contents.js'
import { readChainKey, readSigningKey } from '../keys.js'
import { listLedgerFiles } from '../ledger-files.js'
import { StoreRefused } from '../store.js'
import type { StorePlace } from '../store-place.js'
import { judgeEvent } from '../verify/verify-events.js'
import { startStreamWalk } from '../verify/verify-streams.js'
import { EVENT_COLUMNS } from '../wire.js'
import { addDigest, EXPORT_FORMAT, type ExportClosing, FIRST_DIGEST } from './export-format.js'

const PAGE_EVENTS = 200

interface ExportSummary {
  readonly events: number
  readonly streams: number
  readonly sha256: string
  readonly merkleRoot: string
}

/**
 * Writes the ledger as lines of JSON with a signed closing line, which `verifyExport` checks with the public key alone.
 * Each event is verified first: a tampered ledger is not signed. Only reads; takes no lock.
 */
export async function exportLedger(place: StorePlace, write: (line: string) => Promise<void>): Promise<ExportSummary> {
  const { dir, url } = place
  const key = readChainKey(dir)
  const signingKey = readSigningKey(dir)
  if (key === null || signingKey === null) throw new StoreRefused('tampered', 'A key of the ledger is missing.')
  const opened = url === null ? openSqliteEvents(dir) : await openPostgresEvents(url)
  try {
    const hash = createHash('sha256')
    const streams = startStreamWalk()
    const { replaced } = opened
    const publicKey = createPublicKey(signingKey).export({ type: 'spki', format: 'pem' }).toString()
    const header = JSON.stringify({
      format: EXPORT_FORMAT,
      public_key: publicKey,
      created_at: new Date().toISOString(),
    })
    hash.update(`${header}\n`)
    await write(header)
    let count = 0
    let digest = FIRST_DIGEST
    for await (const row of opened.events()) {
      const bad = judgeEvent(row, key, { seq: count + 1, end: streams.end(String(row.stream)), replaced })
      if (bad !== null) throw new StoreRefused('tampered', `${bad.detail} The export stops here, unsigned.`)
      count += 1
      streams.extend(String(row.stream), { version: Number(row.version), hash: String(row.hash) })
      const line = addDigest(formatEvent(row), digest)
      digest = line.digest
      hash.update(`${line.text}\n`)
      await write(line.text)
    }
    const sha256 = hash.digest('hex')
    const closing: ExportClosing = { count, streams: streams.size, sha256, merkle_root: streams.root() }
    const signature = sign(null, Buffer.from(JSON.stringify(closing)), signingKey).toString('base64')
    await write(JSON.stringify({ closing, signature }))
    return { events: count, streams: streams.size, sha256, merkleRoot: closing.merkle_root }
  } finally {
    await opened.close()
  }
}

interface OpenedEvents {
  readonly replaced: ReplacedContents
  readonly events: () => AsyncGenerator<Row>
  readonly close: () => Promise<void>
}

function openSqliteEvents(dir: string): OpenedEvents {
  const database = openDatabase(listLedgerFiles(dir).database, { readOnly: true })
  return {
    replaced: readSqliteReplaced(database),
    events: () => walkEvents(database),
    close: async () => database.close(),
  }
}

async function openPostgresEvents(url: string): Promise<OpenedEvents> {
  const source = await openPostgresSource(url)
  async function* readEvents(): AsyncGenerator<Row> {
    for await (const part of source.read()) {
      // Events come first.
      if (part[0] !== 'event') return
      yield toEventRow(part)
    }
  }
  return { replaced: await source.listReplaced(), events: readEvents, close: () => source.close() }
}

/** Page by page, yielding to the event loop in between, so that an exporting server keeps answering. */
async function* walkEvents(database: Database): AsyncGenerator<Row> {
  const last = Number(database.prepare('SELECT max(seq) AS seq FROM event').get()?.seq ?? 0)
  const page = database.prepare(`SELECT ${EVENT_COLUMNS} FROM event WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`)
  let after = 0
  while (after < last) {
    const rows = page.all(after, last, PAGE_EVENTS)
    yield* rows
    if (rows.length === 0) return
    after = Number(rows.at(-1)?.seq)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** `data` as the exact text in the ledger, so that its hash can still be checked with the key. */
function formatEvent(row: Row): string {
  const { seq, stream, version, type, at, actor, epoch, phase, contract, data, prev_hash, hash } = row
  return JSON.stringify({ seq, stream, version, type, at, actor, epoch, phase, contract, data, prev_hash, hash })
}
