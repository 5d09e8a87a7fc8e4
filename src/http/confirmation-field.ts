import type { FastifyRequest } from 'fastify'
import { ok, type Result } from '../app/result.js'
import { isSensitiveId } from '../core/identity/sensitive-acts.js'
import { isObject, type JsonObject } from '../core/json.js'
import { CONFIRMATION } from './fields.js'
import type { RouteDescription } from './route.js'
import { findFieldProblem } from './validate-request.js'

/**
 * Takes the confirmation out of the body of a sensitive call, so that the call is validated, remembered and handled
 * without it.
 */
export function takeConfirmation(route: RouteDescription, request: FastifyRequest): Result<JsonObject | undefined> {
  const { body } = request
  if (!isSensitiveId(route.id) || !isObject(body) || !Object.hasOwn(body, 'confirmation')) return ok(undefined)
  const { confirmation, ...rest } = body
  const problem = findFieldProblem(CONFIRMATION, 'confirmation', confirmation)
  if (problem !== null) return { ok: false, problem }
  request.body = rest
  return ok(confirmation as JsonObject)
}

/** The description of a route with the field for the confirmation, if its call is sensitive. */
export function describeConfirmation<Described extends RouteDescription>(route: Described): Described {
  if (!isSensitiveId(route.id)) return route
  const { properties, maxProperties: _, ...body } = route.body ?? { type: 'object' }
  return { ...route, body: { ...body, properties: { ...(properties as JsonObject), confirmation: CONFIRMATION } } }
}
