import { EVENT } from '../answers/admin-answers.js'
import { METRICS, STREAMED_PART } from '../answers/run-answers.js'
import { chooseOne } from '../answers/schema-parts.js'
import { describeConfirmation } from '../confirmation-field.js'
import type { Route, RouteDescription } from '../route.js'
import { ADMIN_ROUTES } from './admin.js'
import { AGENT_ROUTES } from './agent.js'
import { AUDIT_EXPORT, AUDIT_ROUTES } from './audit.js'
import { COORDINATION_ROUTES } from './coordinations.js'
import { DEPENDENCY_ROUTES } from './dependencies.js'
import { HOOK_ROUTES } from './hooks.js'
import { INSIGHT_ROUTES } from './insights.js'
import { KNOWLEDGE_ROUTES } from './knowledge.js'
import { PASSKEY_ROUTES } from './passkeys.js'
import { PHASE_ROUTES } from './phases.js'
import { PROMPT_ROUTES } from './prompt.js'
import { QUESTION_ROUTES } from './questions.js'
import { REPORT_ROUTES } from './report.js'
import { REVIEW_ROUTES } from './reviews.js'
import { RUN_ROUTES } from './run.js'
import { SERVER_LOOK_ROUTES } from './server-looks.js'
import { LOGIN, SESSION_ROUTES } from './sessions.js'
import { SPAWN_ROUTES } from './spawn.js'
import { STATUS_ROUTES } from './status.js'
import { TASK_LOOK_ROUTES } from './task-looks.js'
import { TASK_ROUTES } from './tasks.js'
import { WORKTREE_ROUTES } from './worktrees.js'

/** Every endpoint below `/api/v1` that takes and gives JSON. */
export const ROUTES: readonly Route[] = [
  ...AGENT_ROUTES,
  ...PROMPT_ROUTES,
  ...PHASE_ROUTES,
  ...KNOWLEDGE_ROUTES,
  ...HOOK_ROUTES,
  ...TASK_ROUTES,
  ...TASK_LOOK_ROUTES,
  ...DEPENDENCY_ROUTES,
  ...WORKTREE_ROUTES,
  ...RUN_ROUTES,
  ...REPORT_ROUTES,
  ...INSIGHT_ROUTES,
  ...STATUS_ROUTES,
  ...QUESTION_ROUTES,
  ...REVIEW_ROUTES,
  ...COORDINATION_ROUTES,
  ...ADMIN_ROUTES,
  ...SERVER_LOOK_ROUTES,
  ...SPAWN_ROUTES,
  ...AUDIT_ROUTES,
  ...SESSION_ROUTES,
  ...PASSKEY_ROUTES,
]

/** Routes that answer in another format or from counters of the HTTP server; the server adds them itself. */
export const EVENTS: RouteDescription = {
  method: 'GET',
  path: '/events',
  id: 'streamEvents',
  summary: 'Events as they happen (server-sent events); resumable with the header Last-Event-ID',
  answer: 'A stream of `id`, `event`, `data`; an agent sees its own task only',
  response: EVENT,
  media: 'text/event-stream',
}

export const COORDINATION_STREAM: RouteDescription = {
  method: 'GET',
  path: '/coordinations/:id/stream',
  id: 'streamCoordination',
  summary: 'A council as it happens (server-sent events); resumable with the header Last-Event-ID',
  answer: 'A stream of `id`, `event`, `data`, with `event: part` for what agents write in between; ends with the run',
  response: chooseOne(EVENT, STREAMED_PART),
  media: 'text/event-stream',
}

export const METRICS_SUMMARY: RouteDescription = {
  method: 'GET',
  path: '/metrics/summary',
  id: 'metricsSummary',
  summary: 'Counts since the start of the server',
  answer: '`{events, refusals, tasks, gate_pass_rate, alerts, requests, mean_seconds}`',
  response: METRICS,
}

/** What the OpenAPI document and the reference list. */
export const DESCRIBED: readonly RouteDescription[] = [
  ...ROUTES.map((route) => describeConfirmation(route)),
  ...[LOGIN, EVENTS, COORDINATION_STREAM, AUDIT_EXPORT, METRICS_SUMMARY],
]
