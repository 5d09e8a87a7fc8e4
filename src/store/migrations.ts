import { type Database, openDatabase } from './database.js'
import { StoreRefused } from './store.js'

/** Numbered from 1; released ones never change. Each runs in its own transaction. */
const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  version INTEGER NOT NULL,
  type TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  phase TEXT,
  contract TEXT,
  data TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  tool TEXT GENERATED ALWAYS AS (json_extract(data, '$.tool_name')) VIRTUAL,
  code TEXT GENERATED ALWAYS AS (json_extract(data, '$.code')) VIRTUAL,
  success INTEGER GENERATED ALWAYS AS (
    CASE json_type(data, '$.success') WHEN 'true' THEN 1 WHEN 'false' THEN 0 END) VIRTUAL,
  agent TEXT GENERATED ALWAYS AS (coalesce(json_extract(data, '$.agent_id'),
    CASE WHEN substr(actor, 1, 6) = 'agent:' THEN substr(actor, 7) END)) VIRTUAL,
  UNIQUE (stream, version)
) STRICT;
CREATE INDEX event_code ON event (code) WHERE code IS NOT NULL;
CREATE TABLE stream (num INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE task (
  num INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  phase TEXT NOT NULL,
  agent_id TEXT,
  priority REAL NOT NULL,
  created_at INTEGER NOT NULL,
  lease_expires_at INTEGER,
  approval_expires_at INTEGER,
  open_deps INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX task_held ON task (agent_id) WHERE status IN ('active', 'awaiting_approval');
CREATE INDEX task_claimable ON task (priority DESC, created_at, num)
  WHERE status IN ('queued', 'interrupted') AND open_deps = 0;
CREATE INDEX task_lease ON task (lease_expires_at) WHERE status IN ('active', 'awaiting_approval');
CREATE INDEX task_approval ON task (approval_expires_at) WHERE approval_expires_at IS NOT NULL;
CREATE INDEX task_status ON task (status, phase, num);
CREATE INDEX task_agent ON task (agent_id, num) WHERE agent_id IS NOT NULL;
CREATE TABLE dependency (needs TEXT NOT NULL, task TEXT NOT NULL, PRIMARY KEY (needs, task)) STRICT, WITHOUT ROWID;
CREATE TABLE blob (sha256 TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT;
CREATE TABLE idempotency (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  answer TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency (at);
`,
  `
CREATE TABLE task_count (
  status TEXT NOT NULL,
  phase TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (status, phase)
) STRICT, WITHOUT ROWID;
INSERT INTO task_count (status, phase, count) SELECT status, phase, count(*) FROM task GROUP BY status, phase;
`,
  // Indexed in the order in which pages are read: the newest page costs the same with any number of tasks.
  `
ALTER TABLE task ADD COLUMN open_questions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN questions INTEGER NOT NULL DEFAULT 0;
CREATE INDEX task_open_questions ON task (num) WHERE open_questions > 0;
CREATE INDEX task_questions ON task (num) WHERE questions > 0;
`,
]

const SCHEMA_VERSION = MIGRATIONS.length

/** Migrates the database to this program's schema; refuses one that a newer program wrote. */
export function migrate(database: Database): void {
  const found = readSchemaVersion(database)
  refuseNewer(found)
  for (let version = found + 1; version <= SCHEMA_VERSION; version += 1) {
    database.exec('BEGIN IMMEDIATE')
    try {
      database.exec(MIGRATIONS[version - 1] ?? '')
      database.exec(`INSERT OR REPLACE INTO meta (name, value) VALUES ('schema_version', '${version}')`)
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }
}

function refuseNewer(found: number): void {
  if (found <= SCHEMA_VERSION) return
  throw new StoreRefused(
    'too_new',
    `The ledger has schema version ${found}, this program knows up to ${SCHEMA_VERSION}. Start a newer phaselock, or restore a backup made by this version.`,
  )
}

/** Refuses to read a database of another schema than this program's, without changing it. */
export function requireCurrentSchema(database: Database): void {
  const found = readSchemaVersion(database)
  refuseNewer(found)
  if (found < SCHEMA_VERSION)
    throw new StoreRefused(
      'unreadable',
      `The ledger has schema version ${found}, this program writes ${SCHEMA_VERSION}. Start its server once with this program, which migrates it.`,
    )
}

/** 0 for a database without tables. */
function readSchemaVersion(database: Database): number {
  const table = database.prepare("SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'meta'").get()
  if (table === undefined) return 0
  const row = database.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get()
  const version = Number(row?.value ?? Number.NaN)
  if (Number.isSafeInteger(version) && version > 0) return version
  throw new StoreRefused('corrupt', 'The ledger does not say which schema version it has. Restore a backup.')
}

/**
 * The difference from the schema of this program, or null. A trigger or a view in place of a table could change what is
 * stored or read while every stored event still looks right.
 */
export function findSchemaDifference(database: Database): string | null {
  const expectedDatabase = openDatabase(':memory:')
  try {
    migrate(expectedDatabase)
    const expected = readSchemaObjects(expectedDatabase)
    const found = readSchemaObjects(database)
    for (const [name, sql] of expected) if (found.get(name) !== sql) return name
    for (const name of found.keys()) if (!expected.has(name)) return name
    return null
  } finally {
    expectedDatabase.close()
  }
}

function readSchemaObjects(database: Database): Map<string, string> {
  const rows = database.prepare("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'").all()
  return new Map(rows.map((row) => [`${row.type} ${row.name}`, String(row.sql)]))
}
