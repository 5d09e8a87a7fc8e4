import type { FastifyRequest } from 'fastify'
import type { App } from '../app/app.js'
import { runStream } from '../app/councils/council-book.js'
import type { Principal } from '../app/identity/identity.js'
import { findStreamOfCaller } from '../app/nodes/find-node.js'
import type { CallId } from '../core/identity/permissions.js'
import { findSensitiveAct, findTaskOfAct } from '../core/identity/sensitive-acts.js'
import { isObject } from '../core/json.js'

const OF_TASK = /^(?:apr|qst)-\d+-(.+)$/

/** The task or council that a request is about, as the name of its stream; null: none, so that any node answers. */
export async function findStream(app: App, request: FastifyRequest, principal: Principal): Promise<string | null> {
  const named = findNamedStream(app, request)
  return named === undefined ? findStreamOfCaller(app, principal) : named
}

// Undefined: the request names none, and is about what its caller works on.
function findNamedStream(app: App, request: FastifyRequest): string | null | undefined {
  const path = (request.routeOptions.url ?? '').replace(/^\/api\/v1/, '')
  const { id = '' } = (request.params ?? {}) as { id?: string }
  if (path.startsWith('/tasks/:id')) return `task:${id}`
  if (path.startsWith('/coordinations/:id')) return runStream(id)
  if (path === '/runs/:id/report') return app.ledger.registry.coordinations.has(id) ? runStream(id) : `task:${id}`
  if (path.startsWith('/approvals/:id') || path.startsWith('/questions/:id')) return `task:${OF_TASK.exec(id)?.[1]}`
  if (path.startsWith('/agents/:id/')) return findStreamOfSpawn(app, path, id)
  if (path === '/confirmations') return findStreamOfAct(request.body)
  const taskId = isObject(request.body) ? request.body.task_id : undefined
  const isNamed = path === '/agents/spawn' || path === '/tasks/claim'
  return isNamed && typeof taskId === 'string' ? `task:${taskId}` : undefined
}

// The process of an agent, its log and its window are on the node that started it. A revocation is the system's.
function findStreamOfSpawn(app: App, path: string, agentId: string): string | null {
  const spawn = path.endsWith('/revoke') ? undefined : app.ledger.registry.spawns.get(agentId)
  return spawn === undefined ? null : `task:${spawn.taskId}`
}

// The challenge of a confirmation is in the memory of the node that will decide the act.
function findStreamOfAct(body: unknown): string | null {
  const { act, params, body: said } = isObject(body) ? body : {}
  const sensitive = typeof act === 'string' ? findSensitiveAct(act as CallId, isObject(said) ? said : {}) : null
  if (sensitive === null) return null
  const named = isObject(params) ? Object.entries(params).map(([name, value]) => [name, String(value)]) : []
  const taskId = findTaskOfAct(sensitive, Object.fromEntries(named))
  return taskId === null ? null : `task:${taskId}`
}
