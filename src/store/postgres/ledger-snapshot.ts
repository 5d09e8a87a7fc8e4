import type { PoolClient } from 'pg'
import { type StoredEvent, StoreRefused, type TaskRow } from '../store.js'
import { EVENT_COLUMNS, toStoredEvent, toTaskRow } from '../wire.js'
import { createPool, findAddressProblem, toRefusal } from './connect.js'
import { readSchemaVersion } from './schema.js'

const PAGE = 2_000

/** Everything in the database at one moment, while nodes go on writing. */
export interface LedgerSnapshot {
  events(): AsyncGenerator<StoredEvent>
  tasks(): AsyncGenerator<TaskRow>
  streams(): AsyncGenerator<{ readonly name: string; readonly version: number; readonly home: string }>
  readonly nodes: readonly { readonly id: string; readonly epoch: number; readonly isAlive: boolean }[]
}

/** Reads a ledger without being one of its nodes. */
export async function withLedgerSnapshot<T>(url: string, work: (ledger: LedgerSnapshot) => Promise<T>): Promise<T> {
  const problem = findAddressProblem(url)
  if (problem !== null) throw new StoreRefused('unreachable', problem)
  const pool = createPool(url)
  let client: PoolClient | null = null
  try {
    client = await pool.connect().catch((error: unknown) => {
      throw toRefusal(error)
    })
    if ((await readSchemaVersion(client)) < 2)
      throw new StoreRefused('unreachable', 'The database holds no ledger of several nodes.')
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return await work(await openSnapshot(client))
  } finally {
    client?.release(true)
    await pool.end()
  }
}

async function openSnapshot(client: PoolClient): Promise<LedgerSnapshot> {
  const { rows: nodes } = await client.query(
    'SELECT id, epoch, expires_at > clock_timestamp() AS "isAlive" FROM node ORDER BY id',
  )
  const rows = (columns: string, table: string, order: string) => readPages(client, { columns, table, order })
  return {
    nodes: nodes as LedgerSnapshot['nodes'],
    async *events() {
      for await (const row of rows(EVENT_COLUMNS, 'event', 'seq')) yield toStoredEvent(row)
    },
    async *tasks() {
      for await (const row of rows('num, document', 'task', 'num')) yield toTaskRow(row)
    },
    async *streams() {
      for await (const row of rows('num, name, version, home', 'stream', 'num'))
        yield { name: String(row.name), version: Number(row.version), home: String(row.home) }
    },
  }
}

async function* readPages(
  client: PoolClient,
  { columns, table, order }: { readonly columns: string; readonly table: string; readonly order: string },
) {
  for (let last = 0; ; ) {
    const sql = `SELECT ${columns} FROM ${table} WHERE ${order} > $1 ORDER BY ${order} LIMIT $2`
    const { rows } = await client.query(sql, [last, PAGE])
    yield* rows
    if (rows.length < PAGE) return
    last = Number(rows.at(-1)?.[order])
  }
}
