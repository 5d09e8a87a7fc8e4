import type { KeyObject } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { computeKeySeal } from '../key-seal.js'
import { createPool, findAddressProblem, toRefusal } from '../postgres/connect.js'
import { migrate, readSchemaVersion } from '../postgres/schema.js'
import { readSearchColumns } from '../postgres/write-batch.js'
import { StoreRefused, type TaskRow } from '../store.js'
import { type LedgerPart, toEventRow } from './ledger-part.js'
import type { LedgerTarget } from './ledger-target.js'

const BATCH = 500
const BATCH_CHARS_MAX = 8 * 1024 * 1024

type Batched = Readonly<Record<string, unknown>>

/** An empty PostgreSQL database. Everything is written in one transaction. */
export async function createPostgresTarget(url: string, key: KeyObject): Promise<LedgerTarget> {
  const problem = findAddressProblem(url)
  if (problem !== null) throw new StoreRefused('unreachable', problem)
  const pool = createPool(url)
  try {
    const client = await pool.connect()
    try {
      const before = await listTables(client)
      await requireEmpty(client)
      await migrate(client)
      await client.query('SET statement_timeout = 0')
      await client.query('BEGIN')
      await client.query("INSERT INTO meta (name, value) VALUES ('key_seal', $1)", [computeKeySeal(key)])
      return new PostgresTarget(pool, client, before)
    } catch (error) {
      client.release(true)
      throw error
    }
  } catch (error) {
    await pool.end()
    throw toRefusal(error)
  }
}

async function requireEmpty(client: PoolClient): Promise<void> {
  if ((await readSchemaVersion(client)) === 0) return
  const { rows } = await client.query(
    `SELECT EXISTS (SELECT 1 FROM event) OR EXISTS (SELECT 1 FROM ledger_head)
       OR EXISTS (SELECT 1 FROM meta WHERE name = 'key_seal') AS full`,
  )
  if (rows[0]?.full === true)
    throw new StoreRefused('unreachable', 'The database holds a ledger already. Name an empty one (createdb).')
}

async function listTables(client: PoolClient): Promise<readonly string[]> {
  const { rows } = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()')
  return rows.map(({ tablename }) => String(tablename))
}

class PostgresTarget implements LedgerTarget {
  readonly #streams = new Map<string, { readonly num: number; version: number; hash: string }>()
  #rows: Batched[] = []
  #kind: LedgerPart[0] | null = null
  #chars = 0
  #tasks = 0

  constructor(
    private readonly pool: Pool,
    private readonly client: PoolClient,
    private readonly tablesBefore: readonly string[],
  ) {}

  async write(part: LedgerPart): Promise<void> {
    if (part[0] !== this.#kind || this.#rows.length >= BATCH || this.#chars >= BATCH_CHARS_MAX) await this.#flush()
    this.#kind = part[0]
    this.#rows.push(this.#toRow(part))
    this.#chars += part.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
  }

  async finish({ head }: { readonly head: { readonly count: number; readonly hash: string } }): Promise<void> {
    await this.#flush()
    const streams = [...this.#streams].map(([name, { num, version, hash }]) => ({ num, name, version, hash }))
    await this.#insert('stream', 'num bigint, name text, version bigint, hash text', streams)
    await this.client.query(
      'INSERT INTO ledger_head (count, hash, streams, tasks, owner) VALUES ($1, $2, $3, $4, $5)',
      [head.count, head.hash, this.#streams.size, this.#tasks, ''],
    )
    await this.client.query('COMMIT')
    await this.client.query('ANALYZE')
    await this.#close()
  }

  /** Takes back what was written, and the tables that were made for it. */
  async abort(): Promise<void> {
    await this.client.query('ROLLBACK')
    const made = (await listTables(this.client)).filter((name) => !this.tablesBefore.includes(name))
    for (const name of made) await this.client.query(`DROP TABLE IF EXISTS ${JSON.stringify(name)} CASCADE`)
    await this.#close()
  }

  async #close(): Promise<void> {
    this.client.release(true)
    await this.pool.end()
  }

  #toRow(part: LedgerPart): Batched {
    if (part[0] === 'event') {
      const row = toEventRow(part)
      const known = this.#streams.get(String(row.stream))
      const end = { version: Number(row.version), hash: String(row.hash) }
      this.#streams.set(String(row.stream), { num: known?.num ?? this.#streams.size + 1, ...end })
      return { ...row, ...readSearchColumns(String(row.actor), String(row.data)) }
    }
    if (part[0] === 'task') {
      const [, num, openDeps, document] = part
      this.#tasks = Math.max(this.#tasks, num)
      return toTaskColumns(JSON.parse(document) as TaskRow, { num, open_deps: openDeps, document })
    }
    if (part[0] === 'blob') return { sha256: part[1], content: part[2] }
    const [, principal, key, bodyHash, status, answer, at] = part
    return { principal, key, body_hash: bodyHash, status, answer, at }
  }

  async #flush(): Promise<void> {
    const rows = this.#rows
    this.#rows = []
    this.#chars = 0
    if (rows.length === 0 || this.#kind === null) return
    if (this.#kind === 'blob') {
      await this.client.query(
        `INSERT INTO blob (sha256, content)
         SELECT sha256, decode(content, 'base64') FROM json_to_recordset($1) AS r (sha256 text, content text)`,
        [JSON.stringify(rows)],
      )
      return
    }
    await this.#insert(this.#kind === 'answer' ? 'idempotency' : this.#kind, COLUMNS[this.#kind], rows)
    if (this.#kind === 'task') await this.#insertDependencies(rows)
  }

  async #insertDependencies(rows: readonly Batched[]): Promise<void> {
    const pairs = rows.flatMap(({ id, depends_on: needs }) =>
      [...new Set(needs as readonly string[])].map((one) => ({ needs: one, task: id })),
    )
    await this.#insert('dependency', 'needs text, task text', pairs)
  }

  async #insert(table: string, columns: string, rows: readonly Batched[]): Promise<void> {
    if (rows.length === 0) return
    const names = columns.replace(/(\w+) [\w ]+/g, '$1')
    await this.client.query(
      `INSERT INTO ${table} (${names}) SELECT ${names} FROM json_to_recordset($1) AS r (${columns})`,
      [JSON.stringify(rows)],
    )
  }
}

const COLUMNS = {
  event:
    'seq bigint, stream text, version bigint, type text, at bigint, actor text, epoch bigint, phase text, contract text, data text, prev_hash text, hash text, tool text, code text, success boolean, agent text',
  task: 'num bigint, id text, status text, phase text, agent_id text, priority double precision, created_at bigint, lease_expires_at bigint, approval_expires_at bigint, open_questions integer, questions integer, open_deps integer, document text',
  answer: 'principal text, key text, body_hash text, status integer, answer text, at bigint',
} as const

function toTaskColumns(task: TaskRow, rest: Batched): Batched {
  const { id, status, phase, priority, openQuestions = 0, questions = 0 } = task
  return {
    ...{ id, status, phase, priority, questions, ...rest },
    agent_id: task.agentId,
    created_at: task.createdAt,
    lease_expires_at: task.leaseExpiresAt,
    approval_expires_at: task.approvalExpiresAt,
    open_questions: openQuestions,
    depends_on: task.dependsOn,
  }
}
