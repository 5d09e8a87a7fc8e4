import { openPostgresStore } from './postgres/postgres-store.js'
import { openSqliteStore } from './sqlite-store.js'
import type { Store } from './store.js'

/** Where a ledger is kept: its database, and the directory with its keys, head and checkpoints. */
export interface StorePlace {
  readonly dir: string
  /** The address of a PostgreSQL database; null: SQLite in the directory. */
  readonly url: string | null
}

/** Opens or creates the ledger. Rejects with StoreRefused when it must not be used. */
export function openStore({ dir, url }: StorePlace): Promise<Store> {
  return url === null ? openSqliteStore({ dir }) : openPostgresStore({ dir, url })
}
