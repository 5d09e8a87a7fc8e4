import type { OperatorPrincipal, Party, Principal, TaskPrincipal } from '../app/identity/identity.js'
import type { Once } from '../app/kept-answer.js'
import type { Orchestrator } from '../app/orchestrator.js'
import type { Problem, Result } from '../app/result.js'
import type { AgentBearer, ParticipantBearer, ReviewBearer } from '../core/identity/admit.js'
import type { CallId } from '../core/identity/permissions.js'
import type { JsonObject } from '../core/json.js'
import type { Supervisor } from '../spawn/supervisor.js'
import { getStatus } from './problem.js'

export interface Call {
  readonly app: Orchestrator
  /** Starts and ends agents. */
  readonly supervisor: Supervisor
  readonly principal: Principal
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: JsonObject
  readonly once: Once | undefined
  /** The session cookie, if it proved the caller. */
  readonly cookie: string | null
  /** The origin under which the browser knows this server. */
  readonly origin: string
  /** Whether the call came through the socket of a sandboxed agent. */
  readonly isConfined: boolean
}

/** One endpoint: its input and its action. The OpenAPI document and the reference are generated from this. */
export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  /** `core/identity/permissions.ts` says who may call it, under this name. */
  readonly id: CallId
  readonly summary: string
  /** JSON Schema of the body; the same one validates the request. */
  readonly body?: JsonObject
  readonly query?: Readonly<Record<string, JsonObject>>
  readonly success?: number
  /** A description of the answer. */
  readonly answer: string
  /** JSON Schema 2020-12 of the answer; `src/http/answers` has the parts. A schema with a `title` becomes a component. */
  readonly response: JsonObject
  /** The format of the answer; default `application/json`. The schema of a stream describes the data of its events. */
  readonly media?: 'text/event-stream' | 'application/x-ndjson'
}

export interface Route extends RouteDescription {
  /** The refusal in the caller's own format, answered with 200; null: as everywhere else. */
  readonly refusal?: (problem: Problem, body: unknown) => JsonObject | null
  /** Repeating it under its idempotency key runs it again: it changes nothing, or checks itself what it did before. */
  readonly isRepeatable?: true
  /** Its answer ends the session cookie. */
  readonly clearsCookie?: true
  readonly handle: (call: Call) => Promise<Result<JsonObject>>
}

/** The agent's token of a call that only agents can make. */
export function requireBearer(call: Call): AgentBearer {
  if (call.principal.kind !== 'agent') throw new Error('an agent route was reached without an agent')
  return call.principal.bearer
}

export function reviewBearerOf(call: Call): ReviewBearer {
  if (call.principal.kind !== 'reviewer') throw new Error("a reviewer's route was reached without a reviewer")
  return call.principal.bearer
}

export function requireParticipant(call: Call): ParticipantBearer {
  if (call.principal.kind !== 'participant') throw new Error("a participant's route was reached without one")
  return call.principal.bearer
}

/** The caller of a call about a task. */
export function requireTaskPrincipal({ principal }: Call): TaskPrincipal {
  if (principal.kind === 'participant') throw new Error('a participant reached a route that is about tasks')
  return principal
}

/** The agent or operator of a call that nobody else can make. */
export function requireParty({ principal }: Call): Party {
  if (principal.kind === 'reviewer' || principal.kind === 'participant')
    throw new Error(`a ${principal.kind} reached a route that is not for it`)
  return principal
}

export function requireOperatorPrincipal({ principal }: Call): OperatorPrincipal {
  if (principal.kind !== 'operator') throw new Error('an operator route was reached without an operator')
  return principal
}

export function requireOperator(call: Call): string {
  if (call.principal.kind !== 'operator') throw new Error('an operator route was reached without an operator')
  return `operator:${call.principal.name}`
}

/** Why the caller does it, without secrets. */
export function readReason(call: Call): string {
  return call.app.redact((call.body.reason as string | undefined) ?? 'no reason given') as string
}

/** The span of a call. Of the body only the names of tool and task: the rest may be anything. */
export function describeCall(route: Route, { body }: Call, traceparent: unknown) {
  const { tool_name: tool, task_id: task } = body
  return {
    parent: typeof traceparent === 'string' ? traceparent : '',
    attributes: {
      'http.request.method': route.method,
      'http.route': `/api/v1${route.path}`,
      ...(typeof tool === 'string' ? { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool } : {}),
      ...(typeof task === 'string' ? { 'phaselock.task.id': task } : {}),
    },
    onResult: ({ status, result }: { readonly status: number; readonly result: Result<JsonObject> }) =>
      result.ok
        ? { 'http.response.status_code': status }
        : { 'http.response.status_code': getStatus(result.problem.code), 'phaselock.code': result.problem.code },
  }
}
