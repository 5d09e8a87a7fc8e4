import type { JsonObject } from '../../core/json.js'
import { sumFacts } from '../../core/rules/facts.js'
import type { TaskState } from '../../core/task/state.js'
import type { TaskRow } from '../../store/store.js'
import type { App } from '../app.js'
import { toIsoTime } from '../wire.js'
import { toPendingView } from './views.js'

const TASKS_MAX = 200
const EVENTS_PAGE = 500
const EVENT_PAGES_MAX = 40
const CALLS: ReadonlySet<string> = new Set(['tool_allowed', 'fact_recorded'])
const MINUTE_MS = 60_000
const DETAIL_CHARS_MAX = 300

/** In the order that a viewer wants to see them. */
const WATCHED = ['awaiting_approval', 'active', 'interrupted', 'parked', 'queued'] as const

/** Open tasks and their progress, for views that refresh often. */
export async function buildActivity(app: App): Promise<JsonObject> {
  const now = app.now()
  const { calls, isCut } = await countRecentCalls(app, now)
  const tasks: JsonObject[] = []
  let isMore = false
  for (const status of WATCHED) {
    const room = TASKS_MAX - tasks.length
    const page = room > 0 ? await app.ledger.store.queryTasks({ status, limit: room }) : { items: [], nextCursor: '' }
    isMore ||= page.nextCursor !== null
    for (const row of page.items) {
      const state = await app.ledger.read(row.id)
      if (state !== null)
        tasks.push(
          toActivityView(row, state, {
            calls: calls.get(row.id) ?? 0,
            now,
            isChecking: app.checking.isChecking(row.id),
          }),
        )
    }
  }
  const byStatus: Record<string, number> = {}
  for (const { status, count } of await app.ledger.store.countTasks())
    byStatus[status] = (byStatus[status] ?? 0) + count
  return { at: toIsoTime(now), tasks, counts: byStatus, paused: app.ledger.registry.paused, truncated: isMore || isCut }
}

function toActivityView(
  row: TaskRow,
  state: TaskState,
  { calls, now, isChecking }: { readonly calls: number; readonly now: number; readonly isChecking: boolean },
): JsonObject {
  const { tokens, usage } = sumFacts(state.watch.facts)
  const { open } = state.watch
  return {
    id: state.id,
    title: state.title,
    status: state.status,
    checking: isChecking,
    phase: state.phase,
    visit: state.visit,
    agent_id: state.held?.agentId ?? null,
    phase_seconds: state.visit === 0 ? null : Math.max(0, Math.round((now - state.visitStartedAt) / 1000)),
    tokens: tokens.input + tokens.output,
    tokens_grade: usage,
    calls_per_minute: calls,
    refusals: state.refusalsTotal,
    violation: open === null ? null : { rule: open.rule, diagnostic: cut(open.violation.diagnostic) },
    pending_approval: toPendingView(state),
    open_questions: row.openQuestions,
    parked_reason: state.parkedReason === null ? null : cut(state.parkedReason),
  }
}

function cut(text: string): string {
  return text.length <= DETAIL_CHARS_MAX ? text : `${text.slice(0, DETAIL_CHARS_MAX).toWellFormed()}…`
}

// Newest first until one is older than a minute: a filter by type and time would read the whole ledger each time.
async function countRecentCalls(
  app: App,
  now: number,
): Promise<{ readonly calls: ReadonlyMap<string, number>; readonly isCut: boolean }> {
  const calls = new Map<string, number>()
  let cursor: string | null = null
  for (let at = 0; at < EVENT_PAGES_MAX; at += 1) {
    const filter = { limit: EVENTS_PAGE, ...(cursor === null ? {} : { cursor }) }
    const page = await app.ledger.store.query(filter)
    for (const event of page.items) {
      if (event.at < now - MINUTE_MS) return { calls, isCut: false }
      if (!CALLS.has(event.type)) continue
      const taskId = event.stream.replace(/^task:/, '')
      calls.set(taskId, (calls.get(taskId) ?? 0) + 1)
    }
    cursor = page.nextCursor
    if (cursor === null) return { calls, isCut: false }
  }
  return { calls, isCut: true }
}
