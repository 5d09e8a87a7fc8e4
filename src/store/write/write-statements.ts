import type { Database } from '../database.js'

export const HELD = "('active', 'awaiting_approval')"

/** Every statement of the writer, prepared once per connection. */
export function prepareWrites(database: Database) {
  return {
    insertEvent: database.prepare(
      `INSERT INTO event (seq, stream, version, type, at, actor, epoch, phase, contract, data, prev_hash, hash)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertStream: database.prepare('INSERT INTO stream (name) VALUES (?)'),
    lastEvent: database.prepare('SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1'),
    eventHash: database.prepare('SELECT hash FROM event WHERE seq = ?'),
    streamHead: database.prepare('SELECT version, hash FROM event WHERE stream = ? ORDER BY version DESC LIMIT 1'),
    findTask: database.prepare(
      "SELECT status, phase, json_extract(document, '$.dependsOn') AS depends_on FROM task WHERE id = ?",
    ),
    heldBy: database.prepare(`SELECT id FROM task WHERE agent_id = ? AND status IN ${HELD}`),
    insertTask: database.prepare(
      `INSERT INTO task (status, phase, agent_id, priority, created_at, lease_expires_at, approval_expires_at,
         open_questions, questions, document, open_deps, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    updateTask: database.prepare(
      `UPDATE task SET status = ?, phase = ?, agent_id = ?, priority = ?, created_at = ?, lease_expires_at = ?,
         approval_expires_at = ?, open_questions = ?, questions = ?, document = ? WHERE id = ?`,
    ),
    countTasks: database.prepare(
      `INSERT INTO task_count (status, phase, count) VALUES (?, ?, ?)
       ON CONFLICT (status, phase) DO UPDATE SET count = count + excluded.count`,
    ),
    setOpenDependencies: database.prepare('UPDATE task SET open_deps = ? WHERE id = ?'),
    moveOpenDependencies: database.prepare(
      'UPDATE task SET open_deps = open_deps + ? WHERE id IN (SELECT task FROM dependency WHERE needs = ?)',
    ),
    insertDependency: database.prepare('INSERT OR IGNORE INTO dependency (needs, task) VALUES (?, ?)'),
    deleteDependency: database.prepare('DELETE FROM dependency WHERE needs = ? AND task = ?'),
    insertBlob: database.prepare('INSERT OR IGNORE INTO blob (sha256, content) VALUES (?, ?)'),
    findKey: database.prepare('SELECT 1 AS taken FROM idempotency WHERE principal = ? AND key = ? AND at > ?'),
    insertKey: database.prepare(
      `INSERT OR REPLACE INTO idempotency (principal, key, body_hash, status, answer, at) VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    countKeys: database.prepare('SELECT count(*) AS count FROM idempotency'),
    pruneKeys: database.prepare(
      `DELETE FROM idempotency WHERE (principal, key) IN
         (SELECT principal, key FROM idempotency WHERE at <= ? ORDER BY at LIMIT ?)`,
    ),
  }
}

export type WriteStatements = ReturnType<typeof prepareWrites>
