import type { PoolClient } from 'pg'
import { StoreRefused } from '../store.js'

/** Numbered from 1; released ones never change. Each runs in its own transaction. */
const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ledger_head (
  only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
  count BIGINT NOT NULL,
  hash TEXT NOT NULL,
  streams BIGINT NOT NULL,
  tasks BIGINT NOT NULL,
  owner TEXT NOT NULL
);
CREATE TABLE event (
  seq BIGINT PRIMARY KEY,
  stream TEXT NOT NULL,
  version BIGINT NOT NULL,
  type TEXT NOT NULL,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  epoch BIGINT NOT NULL,
  phase TEXT,
  contract TEXT,
  data TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  tool TEXT,
  code TEXT,
  success BOOLEAN,
  agent TEXT,
  UNIQUE (stream, version)
);
CREATE INDEX event_code ON event (code, seq) WHERE code IS NOT NULL;
CREATE TABLE stream (
  num BIGINT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  version BIGINT NOT NULL,
  hash TEXT NOT NULL
);
CREATE TABLE task (
  num BIGINT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  phase TEXT NOT NULL,
  agent_id TEXT,
  priority DOUBLE PRECISION NOT NULL,
  created_at BIGINT NOT NULL,
  lease_expires_at BIGINT,
  approval_expires_at BIGINT,
  open_questions INTEGER NOT NULL,
  questions INTEGER NOT NULL,
  open_deps INTEGER NOT NULL DEFAULT 0,
  document TEXT NOT NULL
);
CREATE UNIQUE INDEX task_held ON task (agent_id) WHERE status IN ('active', 'awaiting_approval');
CREATE INDEX task_claimable ON task (priority DESC, created_at, num)
  WHERE status IN ('queued', 'interrupted') AND open_deps = 0;
CREATE INDEX task_lease ON task (lease_expires_at) WHERE status IN ('active', 'awaiting_approval');
CREATE INDEX task_approval ON task (approval_expires_at) WHERE approval_expires_at IS NOT NULL;
CREATE INDEX task_status ON task (status, phase, num);
CREATE INDEX task_agent ON task (agent_id, num) WHERE agent_id IS NOT NULL;
CREATE INDEX task_open_questions ON task (num) WHERE open_questions > 0;
CREATE INDEX task_questions ON task (num) WHERE questions > 0;
CREATE TABLE dependency (needs TEXT NOT NULL, task TEXT NOT NULL, PRIMARY KEY (needs, task));
CREATE INDEX dependency_task ON dependency (task);
CREATE TABLE blob (sha256 TEXT PRIMARY KEY, content BYTEA NOT NULL);
CREATE TABLE idempotency (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  answer TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (principal, key)
);
CREATE INDEX idempotency_at ON idempotency (at);
`,
  // Several nodes. An empty home: every node may append.
  `
CREATE TABLE node (
  id TEXT PRIMARY KEY,
  epoch BIGINT NOT NULL,
  url TEXT,
  program_version TEXT NOT NULL,
  secrets TEXT NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  seen_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);
ALTER TABLE stream ADD COLUMN home TEXT NOT NULL DEFAULT '';
`,
  // A node that was stopped on purpose is expected back until then.
  'ALTER TABLE node ADD COLUMN returns_until TIMESTAMPTZ',
  // Work trees on a disk that nodes share: the sealed name of a node's folder, and the home of each tree.
  `
ALTER TABLE node ADD COLUMN shared_trees TEXT;
CREATE TABLE shared_tree (
  folder TEXT NOT NULL,
  tree TEXT NOT NULL,
  home TEXT NOT NULL,
  PRIMARY KEY (folder, tree)
);
`,
]

const SCHEMA_VERSION = MIGRATIONS.length
// Any number that no other program on the same database is likely to use.
const MIGRATION_LOCK = 7_345_901_112

/** Brings the tables to this program's version. Servers that start at the same time wait for each other. */
export async function migrate(client: PoolClient): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
  try {
    const found = await readSchemaVersion(client)
    refuseNewerSchema(found)
    for (let version = found + 1; version <= SCHEMA_VERSION; version += 1) await applyMigration(client, version)
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK])
  }
}

export function refuseNewerSchema(found: number): void {
  if (found <= SCHEMA_VERSION) return
  throw new StoreRefused(
    'too_new',
    `The database has schema version ${found}, this program knows up to ${SCHEMA_VERSION}. Start a newer phaselock, or restore a backup made by this version.`,
  )
}

async function applyMigration(client: PoolClient, version: number): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(MIGRATIONS[version - 1] ?? '')
    await client.query(
      `INSERT INTO meta (name, value) VALUES ('schema_version', $1)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [String(version)],
    )
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

/** 0 for a database without our tables. */
export async function readSchemaVersion(client: PoolClient): Promise<number> {
  const { rows: tables } = await client.query("SELECT to_regclass('meta') IS NOT NULL AS found")
  if (tables[0]?.found !== true) return 0
  const { rows } = await client.query("SELECT value FROM meta WHERE name = 'schema_version'")
  const version = Number(rows[0]?.value ?? Number.NaN)
  if (Number.isSafeInteger(version) && version > 0) return version
  throw new StoreRefused(
    'corrupt',
    'The database has a table named meta that is not from Phaselock. Use another database or schema.',
  )
}

/**
 * A trigger or a rule on a table of the ledger, or null. It could change what is stored while every event still looks
 * right.
 */
export async function findForeignTrigger(client: PoolClient): Promise<string | null> {
  const { rows: found } = await client.query(`
    WITH own AS (SELECT relnamespace AS id FROM pg_class WHERE oid = 'event'::regclass)
    SELECT 'trigger ' || t.tgname AS name FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid, own
      WHERE NOT t.tgisinternal AND c.relnamespace = own.id
    UNION ALL
    SELECT 'rule ' || r.rulename FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class, own
      WHERE r.rulename <> '_RETURN' AND c.relnamespace = own.id
    LIMIT 1`)
  return found.length === 0 ? null : String(found[0]?.name)
}
