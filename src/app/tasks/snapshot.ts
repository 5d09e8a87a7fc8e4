import type { Contract } from '../../core/contract/contract.js'
import type { Json, JsonObject } from '../../core/json.js'
import { listSlotStatuses } from '../../core/reviews/reviewer-slots.js'
import type { BlockerFound } from '../../core/task/fact-parts.js'
import { nextStep } from '../../core/task/next-step.js'
import type { TaskState } from '../../core/task/state.js'
import { findBinding } from '../agents/agent-details.js'
import type { App } from '../app.js'
import { toIsoTime } from '../wire.js'
import { toBlockerView, toTaskRowView, toTaskView } from './views.js'

const SNAPSHOT_BYTES_MAX = 100_000
const LIST_MAX = 50
const EVENTS_MAX = 50
const LOOKED_AT_MAX = 200
const TEXT_CHARS_MAX = 2000

/**
 * A read-only view of what an agent may know: its whole task, and of the others what coordination needs. Always under
 * 100 KB.
 */
export async function buildSnapshot(
  app: App,
  held: { readonly state: TaskState; readonly contract: Contract } | null,
): Promise<JsonObject> {
  const { store } = app.ledger
  const completed = await store.queryTasks({ status: 'completed', limit: LIST_MAX })
  const active = await store.queryTasks({ status: 'active', limit: LIST_MAX })
  const waiting = await store.queryTasks({ status: 'awaiting_approval', limit: LIST_MAX })
  const counts = await store.countTasks()
  const newest = held === null ? { blockers: [], events: [] } : await readNewest(app, held.state)
  const view: Record<string, Json> = {
    task:
      held === null
        ? null
        : { ...boundTexts(toTaskView(held.state)), checking: app.checking.isChecking(held.state.id) },
    current_phase: held?.state.phase ?? null,
    task_dependencies: held === null ? [] : await listDependencies(app, held.state),
    completed_tasks: completed.items.map((row) => ({
      id: row.id,
      title: row.title,
      completed_at: toIsoTime(row.updatedAt),
    })),
    blockers: newest.blockers,
    phases:
      held === null ? [] : [...held.contract.phases.values()].map((phase) => ({ id: phase.id, name: phase.name })),
    agents: [...active.items, ...waiting.items].map((row) => ({
      agent_id: row.agentId,
      task_id: row.id,
      phase: row.phase,
      checking: app.checking.isChecking(row.id),
      binding: row.agentId === null ? null : nameBinding(app, row.agentId),
      since: toIsoTime(row.updatedAt),
    })),
    events: newest.events,
    next_step:
      held === null ? 'Claim a task.' : nextStep(held.contract, held.state, app.checking.findGateRun(held.state.id)),
    counts: groupCounts(counts),
    truncated: completed.nextCursor !== null || active.nextCursor !== null,
  }
  return cutToSize(view)
}

function nameBinding(app: App, id: string): Json {
  return findBinding(app, { id, spawn: app.ledger.registry.spawns.get(id) }).kind ?? null
}

// The state says what a task waits for and whether it gets on; the row does not.
async function addProgress(app: App, worker: JsonObject): Promise<JsonObject> {
  const state = await app.ledger.read(String(worker.task_id))
  if (state === null) return worker
  const open = listSlotStatuses(state).filter((slot) => slot.status !== 'finished')
  return {
    ...worker,
    ...(open.length === 0 ? {} : { waiting_for_reviewers: open.map((slot) => slot.name) }),
    ...(state.denialsInARow === 0 ? {} : { refused_in_a_row: state.denialsInARow }),
  }
}

/** The operator's overview. */
export async function buildOverview(app: App): Promise<JsonObject> {
  const recent = await app.ledger.store.queryTasks({ limit: LIST_MAX })
  const common = await buildSnapshot(app, null)
  const workers = common.agents as readonly JsonObject[]
  return cutToSize({
    ...common,
    agents: await Promise.all(workers.map((worker) => addProgress(app, worker))),
    tasks: recent.items.map((row) => toTaskRowView(row, app.checking.isChecking(row.id))),
    paused: app.ledger.registry.paused,
    alerts: app.alerts.list().slice(0, LIST_MAX),
  })
}

function groupCounts(
  counts: readonly { readonly status: string; readonly phase: string; readonly count: number }[],
): JsonObject {
  const byStatus: Record<string, number> = {}
  const byPhase: Record<string, number> = {}
  for (const { status, phase, count } of counts) {
    byStatus[status] = (byStatus[status] ?? 0) + count
    if (status === 'active' || status === 'awaiting_approval') byPhase[phase] = (byPhase[phase] ?? 0) + count
  }
  return { by_status: byStatus, active_by_phase: byPhase }
}

async function listDependencies(app: App, state: TaskState): Promise<Json> {
  const rows: JsonObject[] = []
  for (const id of state.dependsOn.slice(0, LIST_MAX))
    rows.push({ id, status: (await app.ledger.store.task(id))?.status ?? 'unknown' })
  return rows
}

// One read of the newest events serves both lists; older blockers are not news to the agent.
async function readNewest(app: App, state: TaskState): Promise<{ readonly blockers: Json; readonly events: Json }> {
  const { items } = await app.ledger.store.query({ taskId: state.id, limit: LOOKED_AT_MAX })
  const blocked = items.find((event) => event.type === 'gate_blocked' && event.epoch === state.epoch)
  const events = items.slice(0, EVENTS_MAX).map((event) => ({
    seq: event.seq,
    type: event.type,
    at: toIsoTime(event.at),
    phase: event.phase,
    code: event.data.code ?? null,
  }))
  const blockers = (blocked?.data.blockers ?? []) as unknown as readonly BlockerFound[]
  return { blockers: blockers.map(toBlockerView), events }
}

function boundTexts(view: JsonObject): JsonObject {
  const description =
    typeof view.description === 'string' && view.description.length > TEXT_CHARS_MAX
      ? `${view.description.slice(0, TEXT_CHARS_MAX)}…`
      : (view.description ?? '')
  const metadata = JSON.stringify(view.metadata ?? {}).length > TEXT_CHARS_MAX ? { cut: true } : (view.metadata ?? {})
  return { ...view, description, metadata }
}

// Lists are truncated from the end, the longest first, until the view fits.
function cutToSize(view: Record<string, Json>): JsonObject {
  let out = view
  while (Buffer.byteLength(JSON.stringify(out)) >= SNAPSHOT_BYTES_MAX) {
    const [longest] = Object.entries(out)
      .filter((entry): entry is [string, readonly Json[]] => Array.isArray(entry[1]) && entry[1].length > 0)
      .sort(([, a], [, b]) => JSON.stringify(b).length - JSON.stringify(a).length)
    if (longest === undefined) break
    out = { ...out, [longest[0]]: longest[1].slice(0, Math.floor(longest[1].length / 2)), truncated: true }
  }
  return out
}
