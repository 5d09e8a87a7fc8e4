import pg from 'pg'
import { StoreRefused, StoreUnavailable } from '../store.js'

const CONNECTIONS_MAX = 10
const CONNECT_MS_MAX = 5_000
const STATEMENT_MS_MAX = 30_000
// A cut connection gives no answer at all, not even an error.
const ANSWER_MS_MAX = 40_000
const INT8 = 20

interface Limits {
  readonly answerMs?: number
  /** How long a transaction may wait for this process. Longer, and it keeps its locks from all other nodes. */
  readonly silenceMs?: number
  /** Statements are sent without waiting for the answers of those before them. */
  readonly isPipelined?: boolean
}

/** A pool of connections. 64-bit integers arrive as numbers: none of ours reaches 2^53. */
export function createPool(url: string, limits: Limits = {}): pg.Pool {
  const getTypeParser = ((oid: number, format?: string) =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    query_timeout: limits.answerMs ?? ANSWER_MS_MAX,
    idle_in_transaction_session_timeout: limits.silenceMs ?? STATEMENT_MS_MAX,
    pipeline: limits.isPipelined ?? false,
    keepAlive: true,
    application_name: 'phaselock',
    types: { getTypeParser },
  })
  // A connection that breaks while it is idle is replaced by the pool; the next query says if there is no other.
  pool.on('error', () => undefined)
  // While it is in use, the query that fails says so.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

const WRITE_ANSWER_MS_MAX = 6_000
// A node that is paused in the middle of a write would hold up all others.
const WRITE_SILENCE_MS_MAX = 2_000

/** For writes: a connection that was cut is given up sooner. */
export function createWritePool(url: string): pg.Pool {
  return createPool(url, { answerMs: WRITE_ANSWER_MS_MAX, silenceMs: WRITE_SILENCE_MS_MAX, isPipelined: true })
}

/** Why the address cannot be one of PostgreSQL; null when it can. It is never repeated: it may hold a password. */
export function findAddressProblem(url: string): string | null {
  if (!/^postgres(ql)?:\/\//.test(url)) return 'The store must be a URL like postgres://user@host/database.'
  try {
    const { hostname, pathname, searchParams } = new URL(url)
    if (hostname === '' && !searchParams.has('host')) return 'The URL of the store names no host.'
    return pathname.length > 1 ? null : 'The URL of the store names no database.'
  } catch {
    return 'The URL of the store cannot be read. Escape special characters of the password (%40 for @).'
  }
}

// Classes 08 and 57, and 53300: the server is away, starting, stopping, or full.
const AWAY = /^(08|57P0|53300)/
const WRONG_LOGIN = /^28/
const NO_DATABASE = '3D000'
const NO_RIGHTS = '42501'

/** Why the store cannot be opened, in one line that says what to do. */
export function toRefusal(error: unknown): StoreRefused {
  if (error instanceof StoreRefused) return error
  const { code, message } = describe(error)
  // The driver itself complains when no password was given.
  const remedy =
    WRONG_LOGIN.test(code) || /password must be a string/.test(message)
      ? 'Check user and password of the store.'
      : code === NO_DATABASE
        ? 'Create the database first (createdb).'
        : code === NO_RIGHTS && /for (table|relation|sequence)/.test(message)
          ? 'Connect as the owner of the tables, or grant the user all rights on them.'
          : code === NO_RIGHTS
            ? 'Give the user the right to create tables in it (GRANT CREATE ON SCHEMA).'
            : 'Check that PostgreSQL runs and can be reached from here.'
  return new StoreRefused('unreachable', `The PostgreSQL store cannot be opened: ${message}. ${remedy}`, {
    cause: error,
  })
}

/** Whether PostgreSQL could not be asked, as opposed to answering with an error. */
export function isAway(error: unknown): boolean {
  const { code } = describe(error)
  return AWAY.test(code) || !/^[0-9A-Z]{5}$/.test(code)
}

export function toUnavailable(error: unknown, what: string): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const { code, message } = describe(error)
  const where = AWAY.test(code) ? 'PostgreSQL cannot be reached' : what
  return new StoreUnavailable(`${where}: ${message}`, { cause: error })
}

function describe(error: unknown): { readonly code: string; readonly message: string } {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  // An AggregateError of several addresses has an empty message.
  const text = typeof message === 'string' && message !== '' ? message : String(code ?? error)
  return { code: typeof code === 'string' ? code : '', message: text.replace(/\.$/, '') }
}
