import type { PoolClient } from 'pg'
import type { TaskRow } from '../store.js'
import { countStep } from './batch-view.js'
import { transpose } from './transpose.js'

interface ChangedTask {
  readonly num: number
  readonly row: TaskRow
  /** Null: the task is new. */
  readonly before: TaskRow | null
}

/** Writes the rows of tasks, their dependencies, and how many open dependencies tasks have. Sent together, in order. */
export function writeTasks(client: PoolClient, changed: readonly ChangedTask[]): Promise<unknown>[] {
  if (changed.length === 0) return []
  const isHeld = ({ row }: ChangedTask) => row.status === 'active' || row.status === 'awaiting_approval'
  const relinked = changed.filter(
    ({ row, before }) => JSON.stringify(before?.dependsOn ?? []) !== JSON.stringify(row.dependsOn),
  )
  const turned = changed.filter(
    ({ row, before }) => (before?.status === 'completed') !== (row.status === 'completed') || before === null,
  )
  const freeing = changed.filter((task) => !isHeld(task))
  return [
    // Rows that free an agent come first: the index allows an agent one held task at any moment.
    ...upsertTasks(client, freeing),
    ...upsertTasks(client, changed.filter(isHeld)),
    ...linkDependencies(client, relinked),
    ...countDependencies(client, relinked, turned),
  ]
}

function countDependencies(
  client: PoolClient,
  relinked: readonly ChangedTask[],
  turned: readonly ChangedTask[],
): Promise<unknown>[] {
  if (relinked.length === 0 && turned.length === 0) return []
  const text = countStep(`written AS (UPDATE task t SET open_deps = (
      SELECT count(*) FROM dependency d LEFT JOIN task n ON n.id = d.needs
      WHERE d.task = t.id AND n.status IS DISTINCT FROM 'completed')
    WHERE t.id = ANY($1) OR t.id IN (SELECT task FROM dependency WHERE needs = ANY($2)))`)
  const values = [relinked.map(({ row }) => row.id), turned.map(({ row }) => row.id)]
  return [client.query({ name: 'batch_open_deps', text, values })]
}

function upsertTasks(client: PoolClient, changed: readonly ChangedTask[]): Promise<unknown>[] {
  if (changed.length === 0) return []
  const text =
    countStep(`written AS (INSERT INTO task (num, id, status, phase, agent_id, priority, created_at, lease_expires_at, approval_expires_at,
       open_questions, questions, document)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::bigint[],
       $8::bigint[], $9::bigint[], $10::int[], $11::int[], $12::text[])
     ON CONFLICT (id) DO UPDATE SET status = excluded.status, phase = excluded.phase, agent_id = excluded.agent_id,
       priority = excluded.priority, created_at = excluded.created_at, lease_expires_at = excluded.lease_expires_at,
       approval_expires_at = excluded.approval_expires_at, open_questions = excluded.open_questions,
       questions = excluded.questions, document = excluded.document)`)
  const rows = changed.map(({ num, row }) => [
    ...[num, row.id, row.status, row.phase, row.agentId, row.priority, row.createdAt, row.leaseExpiresAt],
    ...[row.approvalExpiresAt, row.openQuestions, row.questions, JSON.stringify(row)],
  ])
  return [client.query({ name: 'batch_tasks_write', text, values: transpose(rows, 12) })]
}

function linkDependencies(client: PoolClient, relinked: readonly ChangedTask[]): Promise<unknown>[] {
  if (relinked.length === 0) return []
  const links = relinked.flatMap(({ row }) => [...new Set(row.dependsOn)].map((needs) => [needs, row.id]))
  const remove = countStep('written AS (DELETE FROM dependency WHERE task = ANY($1))')
  const insert = 'INSERT INTO dependency (needs, task) SELECT * FROM unnest($1::text[], $2::text[])'
  return [
    client.query(remove, [relinked.map(({ row }) => row.id)]),
    client.query(countStep(`written AS (${insert})`), transpose(links, 2)),
  ]
}
