import { createRequire, isBuiltin } from 'node:module'

/** The part of `DatabaseSync` that both implementations share and the store uses. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
  readonly isTransaction: boolean
}

export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number | bigint }
  get(...values: readonly Value[]): Row | undefined
  all(...values: readonly Value[]): Row[]
  iterate(...values: readonly Value[]): IterableIterator<Row>
}

export type Value = string | number | null | Uint8Array
export type Row = Record<string, Value>

type DatabaseConstructor = new (path: string, options?: { readOnly?: boolean; timeout?: number }) => Database

const BUSY_TIMEOUT_MS = 5_000
const require = createRequire(import.meta.url)
let loaded: DatabaseConstructor | null = null

// More than any connection of the store needs; only audit filters vary.
const STATEMENTS_MAX = 512

export function openDatabase(
  path: string,
  options: { readonly readOnly?: boolean; readonly timeoutMs?: number } = {},
): Database {
  loaded ??= loadConstructor()
  const Constructor = loaded
  const readOnly = options.readOnly ?? false
  const database = new Constructor(path, { readOnly, timeout: options.timeoutMs ?? BUSY_TIMEOUT_MS })
  return keepStatements(database)
}

/**
 * Prepares each statement once. The package releases a closed file only when its statements are garbage-collected:
 * ending the transaction first releases the locks at once.
 */
function keepStatements(database: Database): Database {
  const statements = new Map<string, Statement>()
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const known = statements.get(sql)
      if (known !== undefined) return known
      if (statements.size >= STATEMENTS_MAX) throw new Error(`more than ${STATEMENTS_MAX} statements on one connection`)
      const statement = database.prepare(sql)
      statements.set(sql, statement)
      return statement
    },
    close() {
      statements.clear()
      try {
        if (database.isTransaction) database.exec('ROLLBACK')
      } finally {
        database.close()
      }
    },
    get isTransaction() {
      return database.isTransaction
    },
  }
}

/** `node:sqlite` if the runtime has all of it; Node 20 does not, so there the package with the same interface. */
function loadConstructor(): DatabaseConstructor {
  if (isBuiltin('node:sqlite')) {
    const builtin = loadBuiltin()
    // Its first versions do not report whether a transaction is open.
    if ('isTransaction' in builtin.prototype) return builtin
  }
  return (require('@photostructure/sqlite') as { DatabaseSync: DatabaseConstructor }).DatabaseSync
}

/** The runtime warns once that its module is experimental. Only that warning is suppressed, only while it loads. */
function loadBuiltin(): DatabaseConstructor {
  const emitWarning = process.emitWarning
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes('SQLite')) emitWarning.call(process, warning, ...rest)
  }) as typeof process.emitWarning
  try {
    return (require('node:sqlite') as { DatabaseSync: DatabaseConstructor }).DatabaseSync
  } finally {
    process.emitWarning = emitWarning
  }
}

/** SQLite's result code; extended codes carry the primary code in their low byte. */
export function getSqliteCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null
  const { errcode, sqliteCode: code, sqliteExtendedCode } = error as Record<string, unknown>
  const found = [errcode, sqliteExtendedCode, code].find((value) => typeof value === 'number')
  return typeof found === 'number' ? found & 0xff : null
}

export const SQLITE = { busy: 5, corrupt: 11, full: 13, tooBig: 18, constraint: 19, mismatch: 20, notADatabase: 26 }
