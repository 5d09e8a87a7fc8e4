import type { PoolClient } from 'pg'
import { StoreRefused } from '../store.js'
import { createPool, toRefusal } from './connect.js'
import { readSchemaVersion } from './schema.js'

/** Refuses a ledger whose database was left: it goes on in SQLite. */
export async function refuseMovedDatabase(client: PoolClient): Promise<void> {
  const { rows } = await client.query("SELECT value FROM meta WHERE name = 'moved_at'")
  if (rows[0] === undefined) return
  throw new StoreRefused(
    'unreachable',
    `The ledger of this database was moved to SQLite on ${rows[0].value}. Start the server without PHASELOCK_STORE.`,
  )
}

/** Refuses while a server is connected to the database. */
export async function refuseBusyPostgres(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await refuseMovedDatabase(client)
    const { rows } = await client.query(
      `SELECT count(*) AS others FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'phaselock' AND pid <> pg_backend_pid()`,
    )
    if (Number(rows[0]?.others) > 0)
      throw new StoreRefused('locked', 'A server is connected to the database. Stop every node first.')
  })
}

export async function markPostgresMoved(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("INSERT INTO meta (name, value) VALUES ('moved_at', $1)", [new Date().toISOString()])
  })
}

/** Whether the database holds this very ledger, up to the same event. */
export function holdsLedger(
  url: string,
  wanted: { readonly keySeal: string; readonly head: { readonly count: number; readonly hash: string } | null },
): Promise<boolean> {
  return withClient(url, async (client) => {
    if (wanted.head === null || (await readSchemaVersion(client)) === 0) return false
    const { rows } = await client.query(
      `SELECT 1 FROM ledger_head h, meta m WHERE h.count = $1 AND h.hash = $2 AND m.name = 'key_seal' AND m.value = $3`,
      [wanted.head.count, wanted.head.hash, wanted.keySeal],
    )
    return rows.length > 0
  })
}

async function withClient<T>(url: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const pool = createPool(url)
  try {
    const client = await pool.connect()
    try {
      return await work(client)
    } finally {
      client.release(true)
    }
  } catch (error) {
    throw toRefusal(error)
  } finally {
    await pool.end()
  }
}
