import { openPostgresStore } from './postgres/postgres-store.js'
import { openSqliteStore } from './sqlite-store.js'
import type { Store } from './store.js'
import type { StorePlace } from './store-place.js'

/** Opens or creates the ledger. Rejects with StoreRefused when it must not be used. */
export function openStore({ dir, url }: StorePlace): Promise<Store> {
  return url === null ? openSqliteStore({ dir }) : openPostgresStore({ dir, url })
}
