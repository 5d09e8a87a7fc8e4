/** Where a ledger is kept: its database, and the directory with its keys, head and checkpoints. */
export interface StorePlace {
  readonly dir: string
  /** The address of a PostgreSQL database; null: SQLite in the directory. */
  readonly url: string | null
}
