import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { events, newEvent } from '../store/events.js'
import { findPostgres, type PostgresServer, startPostgres, WITH_PASSWORD } from '../store/postgres-server.js'
import { run, SECRET } from './nodes.js'

const bin = findPostgres()
const TABLES = ['meta', 'ledger_head', 'event', 'stream', 'task', 'node', 'idempotency', 'blob']

describe.skipIf(bin === null)('a store that must not be used (skipped where PostgreSQL is not installed)', () => {
  let postgres: PostgresServer
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-bad-store-'))
  let made = 0

  beforeAll(async () => {
    postgres = await startPostgres(bin ?? '')
  })
  afterAll(() => {
    postgres?.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  /** A ledger of one event whose server is stopped. */
  async function makeLedger() {
    made += 1
    const stateDir = join(dir, `ledger-${made}`)
    const url = await postgres.createDatabase()
    const store = await openPostgresStore({ dir: stateDir, url })
    events(await store.append({ stream: 'task:a', expectedVersion: 0, events: [newEvent()] }))
    await store.close()
    return { url, stateDir }
  }

  /** Everything in a database, so that what was written is seen. */
  async function readAll(url: string): Promise<unknown> {
    const listing = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    const tables = (await postgres.run(url, listing)).map(({ tablename }) => String(tablename))
    const rows = TABLES.filter((table) => tables.includes(table)).map((table) =>
      postgres.run(url, `SELECT t::text FROM ${table} t ORDER BY 1`),
    )
    return { tables, rows: await Promise.all(rows) }
  }

  function readFiles(stateDir: string): Record<string, string> {
    const names = existsSync(stateDir) ? readdirSync(stateDir) : []
    const kept = names.filter((name) => !name.startsWith('server.lock') && name !== 'checkpoints')
    return Object.fromEntries(kept.map((name) => [name, readFileSync(join(stateDir, name), 'base64')]))
  }

  interface Refused {
    readonly store: string
    readonly stateDir?: string
    readonly code: 1 | 2
    readonly says: RegExp
    readonly environment?: NodeJS.ProcessEnv
    /** The database whose content must not change. */
    readonly looked?: string
  }

  async function expectRefused({ store, stateDir, code, says, environment = SECRET, looked }: Refused): Promise<void> {
    made += 1
    const at = stateDir ?? join(dir, `new-${made}`)
    const before = { database: looked === undefined ? null : await readAll(looked), files: readFiles(at) }
    const workspace = join(dir, 'tree')
    mkdirSync(workspace, { recursive: true })
    const words = ['serve', '--port', '0', '--workspace', workspace, '--state-dir', at]
    const said = await run(words, { ...environment, PHASELOCK_STORE: store })
    expect(said, said.stderr).toMatchObject({ code, stdout: '' })
    expect(said.stderr).toMatch(says)
    // One message for people: no stack, no second error, and never the password.
    expect(said.stderr.trim().split('\n').length, said.stderr).toBeLessThanOrEqual(2)
    expect(said.stderr).not.toMatch(/hunter2secret| at .*\.js:/)
    expect({ database: looked === undefined ? null : await readAll(looked), files: readFiles(at) }).toEqual(before)
  }

  it('[REQ-POSTGRES-6] an address that is none, names no host or no database, or cannot be read', async () => {
    for (const [store, says] of [
      ['mysql://x/y', /URL like postgres:/],
      ['postgres://127.0.0.1', /names no database/],
      ['postgres://a:hunter2secret@[::/x', /cannot be read.*%40/],
    ] as const)
      await expectRefused({ store, code: 2, says })
  })

  it('[REQ-POSTGRES-6] no signing secret', async () => {
    const store = await postgres.createDatabase()
    const says = /ORCHESTRATOR_JWT_SECRET must be set.*openssl rand/
    await expectRefused({ store, code: 2, says, environment: {}, looked: store })
  })

  it('[REQ-POSTGRES-6] a server or a database that is not there', async () => {
    const store = 'postgres://postgres:hunter2secret@127.0.0.1:1/x'
    await expectRefused({ store, code: 1, says: /Check that PostgreSQL runs and can be reached/ })
    const other = (await postgres.createDatabase()).replace(/ledger\d+$/, 'nowhere')
    await expectRefused({ store: other, code: 1, says: /Create the database first/ })
  })

  it('[REQ-POSTGRES-6] a wrong password', async () => {
    const url = await postgres.createDatabase()
    await postgres.run(url, `CREATE ROLE ${WITH_PASSWORD} LOGIN PASSWORD 'right' SUPERUSER`)
    const store = url.replace('postgres@', `${WITH_PASSWORD}:hunter2secret@`)
    await expectRefused({ store, code: 1, says: /Check user and password/, looked: url })
  })

  it('[REQ-POSTGRES-6] missing rights, on an empty database and on the tables of a ledger', async () => {
    const empty = await postgres.createDatabase()
    await postgres.run(empty, 'CREATE ROLE weak LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    const asWeak = (url: string) => url.replace('postgres@', 'weak@')
    await expectRefused({ store: asWeak(empty), code: 1, says: /GRANT CREATE ON SCHEMA/, looked: empty })
    const { url, stateDir } = await makeLedger()
    await expectRefused({
      store: asWeak(url),
      stateDir,
      code: 1,
      says: /permission denied.*owner of the tables/,
      looked: url,
    })
  })

  it('[REQ-POSTGRES-6] a newer schema; an older one is brought up to date', async () => {
    const { url, stateDir } = await makeLedger()
    const setVersion = (version: number) =>
      postgres.run(url, "UPDATE meta SET value = $1 WHERE name = 'schema_version'", [String(version)])
    await setVersion(99)
    await expectRefused({ store: url, stateDir, code: 1, says: /schema version 99.*newer/, looked: url })
    await setVersion(2)
    await postgres.run(url, 'ALTER TABLE node DROP COLUMN returns_until, DROP COLUMN shared_trees')
    await postgres.run(url, 'DROP TABLE shared_tree')
    await (await openPostgresStore({ dir: stateDir, url })).close()
    const [row] = await postgres.run(url, "SELECT value FROM meta WHERE name = 'schema_version'")
    expect(Number(row?.value)).toBe(4)
  })

  it('[REQ-POSTGRES-6] the database of another ledger, and a server with other keys', async () => {
    const [first, second] = [await makeLedger(), await makeLedger()]
    const { url, stateDir } = first
    await expectRefused({ store: url, stateDir: second.stateDir, code: 1, says: /not the key/, looked: url })
    await expectRefused({ store: url, code: 1, says: /whose keys are not in/, looked: url })
    const foreign = await postgres.createDatabase()
    await postgres.run(foreign, 'CREATE TABLE meta (name TEXT, value TEXT)')
    await expectRefused({ store: foreign, code: 1, says: /not from Phaselock.*another database/, looked: foreign })
    // The empty database of a ledger that has events elsewhere.
    const empty = await postgres.createDatabase()
    await expectRefused({ store: empty, stateDir, code: 1, says: /cut off/, looked: empty })
  })
})
