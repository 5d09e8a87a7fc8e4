import { PROGRAM_VERSION } from '../app/version.js'
import { CODES } from '../core/codes.js'
import { describeCallers } from '../core/identity/permissions.js'
import type { Json, JsonObject } from '../core/json.js'
import { Components } from './answers/components.js'
import { makeList } from './answers/schema-parts.js'
import { BLOCKER } from './answers/task-answers.js'
import { IDEMPOTENCY_KEY } from './fields.js'
import type { RouteDescription } from './route.js'

/** The OpenAPI 3.1 document, generated from the table and schemas that serve the requests. */
export function openApi(routes: readonly RouteDescription[]): JsonObject {
  const components = new Components()
  const problem = components.lift(buildProblemSchema())
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: buildOperation(route, components) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Phaselock',
      version: PROGRAM_VERSION,
      description: 'The orchestrator that makes steps impossible to skip.',
    },
    servers: [{ url: '/api/v1' }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'Operator token, agent token, phase token or review token.',
        },
      },
      responses: {
        Problem: { description: 'A problem', content: { 'application/problem+json': { schema: problem } } },
      },
      schemas: components.list(),
    },
    security: [{ token: [] }],
  }
}

function buildOperation(route: RouteDescription, components: Components): JsonObject {
  const parameters = [
    ...listPathParameters(route),
    ...queryParameters(route),
    ...(route.method === 'GET' ? [] : [buildIdempotencyKey()]),
  ]
  const success = String(route.success ?? 200)
  return {
    operationId: route.id,
    summary: route.summary,
    description: `For ${describeCallers(route.id)}.`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: route.body } } } }),
    responses: {
      [success]: {
        description: route.answer,
        content: {
          [route.media ?? 'application/json']: { schema: components.lift(route.response) },
        },
      },
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

function listPathParameters(route: RouteDescription): readonly JsonObject[] {
  return [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({
    name: name ?? '',
    in: 'path',
    required: true,
    schema: { type: 'string', maxLength: 128 },
  }))
}

function queryParameters(route: RouteDescription): readonly JsonObject[] {
  return Object.entries(route.query ?? {}).map(([name, schema]) => ({ name, in: 'query', required: false, schema }))
}

function buildIdempotencyKey(): JsonObject {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: IDEMPOTENCY_KEY,
  }
}

function buildProblemSchema(): JsonObject {
  return {
    title: 'Problem',
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'code'],
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      code: { enum: Object.keys(CODES) },
      remedy: { type: 'string' },
      next_step: { type: 'string' },
      allowed_tools: { type: 'array', items: { type: 'string' } },
      blockers: makeList(BLOCKER),
      retry: {
        type: 'object',
        properties: { attempt: { type: 'integer' }, max: { type: 'integer' }, text: { type: 'string' } },
      },
    },
  }
}
