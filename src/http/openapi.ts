import { readFileSync } from 'node:fs'
import { PROGRAM_VERSION } from '../app/version.js'
import { packagePath } from '../base/package-root.js'
import { CODES, type Code } from '../core/codes.js'
import { describeCallers } from '../core/identity/permissions.js'
import type { Json, JsonObject } from '../core/json.js'
import { Components } from './answers/components.js'
import { makeList } from './answers/schema-parts.js'
import { BLOCKER } from './answers/task-answers.js'
import { IDEMPOTENCY_KEY } from './fields.js'
import { buildProblemDocument, getStatus } from './problem.js'
import { listRefusals } from './refusals.js'
import type { RouteDescription } from './route.js'
import { findTag, TAGS } from './tags.js'

/** The OpenAPI 3.1 document, generated from the table and schemas that serve the requests. */
export function openApi(routes: readonly RouteDescription[]): JsonObject {
  const components = new Components()
  const examples = readExamples()
  const problem = components.lift(buildProblemSchema())
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: buildOperation(route, { components, examples }) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Phaselock',
      version: PROGRAM_VERSION,
      description: 'The orchestrator that makes steps impossible to skip.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      contact: { name: 'Phaselock', url: 'https://github.com/phaselock/phaselock' },
    },
    servers: [{ url: '/api/v1' }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
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
        ...buildSharedRefusals(routes),
      },
      schemas: components.list(),
      examples: Object.fromEntries(listCodes(routes).map((code) => [code, buildProblemExample(code)])),
    },
    security: [{ token: [] }],
  }
}

interface Examples {
  readonly [id: string]: { readonly body?: Json; readonly answer: Json } | undefined
}

// Recorded from a real server; `test/http/openapi.test.ts` holds them against the schemas and says how to record them.
function readExamples(): Examples {
  return JSON.parse(readFileSync(packagePath('schemas/openapi-examples.json'), 'utf8')) as Examples
}

function buildOperation(
  route: RouteDescription,
  { components, examples }: { readonly components: Components; readonly examples: Examples },
): JsonObject {
  const example = examples[route.id]
  const parameters = [
    ...listPathParameters(route),
    ...queryParameters(route),
    ...(route.method === 'GET' ? [] : [buildIdempotencyKey()]),
  ]
  const success = String(route.success ?? 200)
  return {
    operationId: route.id,
    tags: [findTag(route)],
    summary: route.summary,
    description: `For ${describeCallers(route.id)}.`,
    ...(route.id === 'login' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: needsBody(route.body),
            content: { 'application/json': { schema: route.body, ...toExample(example?.body) } },
          },
        }),
    responses: {
      [success]: {
        description: route.answer,
        content: {
          [route.media ?? 'application/json']: {
            schema: components.lift(route.response),
            ...toExample(example?.answer),
          },
        },
      },
      ...buildRefusals(route),
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

// A request without a body is read as one with an empty object.
function needsBody({ required, minProperties }: JsonObject): boolean {
  return (Array.isArray(required) && required.length > 0) || minProperties !== undefined
}

function toExample(example: Json | undefined): JsonObject {
  return example === undefined ? {} : { example }
}

// One answer for each status, with the codes that it can have.
function buildRefusals(route: RouteDescription): JsonObject {
  return Object.fromEntries(
    groupByStatus(listRefusals(route)).map(([status, codes]) => [
      status,
      codes.length > SHARED_CODES_MAX ? buildRefusal(codes) : { $ref: `#/components/responses/${nameRefusal(codes)}` },
    ]),
  )
}

/** Answers with so few codes are the same in many calls; the document has them once. */
const SHARED_CODES_MAX = 3

function buildSharedRefusals(routes: readonly RouteDescription[]): JsonObject {
  const all = routes.flatMap((route) => groupByStatus(listRefusals(route)).map(([, codes]) => codes))
  const shared = all.filter((codes) => codes.length <= SHARED_CODES_MAX)
  return Object.fromEntries(shared.map((codes) => [nameRefusal(codes), buildRefusal(codes)]))
}

function groupByStatus(codes: readonly Code[]): readonly (readonly [string, readonly Code[]])[] {
  const statuses = [...new Set(codes.map(getStatus))].sort((a, b) => a - b)
  return statuses.map((status) => [String(status), codes.filter((code) => getStatus(code) === status).sort()])
}

function nameRefusal(codes: readonly Code[]): string {
  return codes.join('-or-')
}

function buildRefusal(codes: readonly Code[]): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

function listCodes(routes: readonly RouteDescription[]): readonly Code[] {
  return [...new Set(routes.flatMap(listRefusals))].sort()
}

function buildProblemExample(code: Code): JsonObject {
  const { title } = CODES[code]
  return { summary: title, value: buildProblemDocument({ code, detail: `${title}.`, extra: {} }) }
}

function listPathParameters(route: RouteDescription): readonly JsonObject[] {
  return [...route.path.matchAll(/([a-z]+)\/:([a-z_]+)/g)].map(([, folder = '', name = '']) => ({
    name,
    description: describePathParameter(folder, name),
    in: 'path',
    required: true,
    schema: { type: 'string', maxLength: 128 },
  }))
}

function describePathParameter(folder: string, name: string): string {
  const thing = folder === 'coordinations' ? 'council' : folder.replace(/(?<=sh)es$|s$/, '')
  return thing === name ? `The ${thing}.` : `The \`${name}\` of the ${thing}.`
}

function queryParameters(route: RouteDescription): readonly JsonObject[] {
  return Object.entries(route.query ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    description: schema.description ?? `Only what has this \`${name}\`.`,
    required: false,
    schema,
  }))
}

function buildIdempotencyKey(): JsonObject {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same call under the same key is answered again, and not made again.',
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
