import { type AuditFilter, SEARCHED_MAX } from '../../app/ledger/export-events.js'
import { ok } from '../../app/result.js'
import { toEventView, toIsoTimeOrNull } from '../../app/wire.js'
import { EVENT, LEDGER_CHECK, LEDGER_STATS } from '../answers/admin-answers.js'
import { allowNull, COUNT, makeList, makeObject, TEXT } from '../answers/schema-parts.js'
import { FIELD, NUMBER_MAX } from '../fields.js'
import { parseLimit, parseTime } from '../query.js'
import type { Route, RouteDescription } from '../route.js'

/** Filters over the ledger. */
const FILTERS = {
  task_id: FIELD.id,
  agent_id: FIELD.id,
  phase: FIELD.phase,
  tool_name: FIELD.tool,
  code: FIELD.phase,
  type: FIELD.phase,
  actor: { type: 'string', minLength: 1, maxLength: 200, description: 'As in the event: `operator:admin`.' },
  stream: { type: 'string', minLength: 1, maxLength: 200, description: 'As in the event: `system`, `task:ID`.' },
  q: { type: 'string', minLength: 2, maxLength: 200, description: 'Text in the data of the event, in any case.' },
  after_seq: { type: 'integer', minimum: 0, maximum: NUMBER_MAX, description: 'Only events after this one.' },
  success: { enum: ['true', 'false'] },
  since: FIELD.time,
  until: FIELD.time,
} as const

type Query = Readonly<Record<string, string>>

/** The filter that a query asks for. */
export function readAuditFilter(query: Query): Omit<AuditFilter, 'limit'> {
  const filter = {
    taskId: query.task_id,
    agentId: query.agent_id,
    phase: query.phase,
    toolName: query.tool_name,
    code: query.code,
    type: query.type,
    actor: query.actor,
    stream: query.stream,
    text: query.q,
    afterSeq: query.after_seq === undefined ? undefined : Number(query.after_seq),
    success: query.success === undefined ? undefined : query.success === 'true',
    since: parseTime(query.since),
    until: parseTime(query.until),
    cursor: query.cursor,
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

/** Answers with lines of JSON; the server adds it itself. */
export const AUDIT_EXPORT: RouteDescription = {
  method: 'GET',
  path: '/audit/export',
  id: 'exportAudit',
  summary: 'The ledger as lines of JSON: signed as a whole, or only the events that match',
  query: FILTERS,
  media: 'application/x-ndjson',
  answer: 'A file of one JSON value a line',
  response: EVENT,
}

/** The numbers of the events that were looked at for a page. */
const SEARCHED = makeObject({ from: COUNT, to: COUNT })

/** What the ledger answers. */
export const AUDIT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/audit/query',
    id: 'queryAudit',
    summary: 'Events by filter, newest first',
    query: { ...FILTERS, limit: FIELD.limit, cursor: FIELD.cursor },
    answer: '`{events, next_cursor, searched}`',
    response: makeObject({ events: makeList(EVENT), next_cursor: allowNull(TEXT), searched: SEARCHED }),
    handle: async ({ app, query }) => {
      const part = { limit: parseLimit(query, 100), searchedMax: SEARCHED_MAX }
      const page = await app.ledger.store.query({ ...readAuditFilter(query), ...part })
      return ok({ events: page.items.map(toEventView), next_cursor: page.nextCursor, searched: { ...page.searched } })
    },
  },
  {
    method: 'GET',
    path: '/audit/recent',
    id: 'recentAudit',
    summary: 'The newest events',
    query: { count: FIELD.limit },
    answer: '`{events}`',
    response: makeObject({ events: makeList(EVENT) }),
    handle: async ({ app, query }) => {
      const page = await app.ledger.store.query({ limit: query.count === undefined ? 50 : Number(query.count) })
      return ok({ events: page.items.map(toEventView) })
    },
  },
  {
    method: 'GET',
    path: '/audit/stats',
    id: 'auditStats',
    summary: 'Counts by type and by refusal code',
    answer: '`{events, streams, by_type, by_code, first_at, last_at}`',
    response: LEDGER_STATS,
    handle: async ({ app }) => {
      const stats = await app.ledger.store.readStats()
      return ok({
        events: stats.events,
        streams: stats.streams,
        by_type: stats.byType,
        by_code: stats.byCode,
        first_at: toIsoTimeOrNull(stats.firstAt),
        last_at: toIsoTimeOrNull(stats.lastAt),
      })
    },
  },
  {
    method: 'GET',
    path: '/audit/verify',
    id: 'verifyAudit',
    summary: 'Verify the whole ledger',
    answer: '`{ok, events, streams, checkpoints, problems}`',
    response: LEDGER_CHECK,
    handle: async ({ app }) => {
      const report = await app.ledger.store.verify()
      return ok({ ...report, problems: report.problems.map((problem) => ({ ...problem })) })
    },
  },
]
