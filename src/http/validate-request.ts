import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import formatsModule from 'ajv-formats'
import type { FastifyRequest } from 'fastify'
import { type Problem, refuse } from '../app/result.js'
import type { JsonObject } from '../core/json.js'
import { formatCount } from '../core/text.js'
import { IDEMPOTENCY_KEY } from './fields.js'
import { isReadMethod } from './is-read-method.js'
import type { RouteDescription } from './route.js'

const ajv = new Ajv2020({ allErrors: true, strict: false, verbose: true })
const addFormats = formatsModule as unknown as (instance: Ajv2020) => void
addFormats(ajv)
const PROBLEMS_SHOWN_MAX = 10

/** Validates idempotency key, body and query of a route against the schemas that its documentation shows. */
export function requestValidator(route: RouteDescription): (request: FastifyRequest) => Problem | null {
  return (request) => {
    const wrongKey = findKeyProblem(request)
    if (wrongKey !== null) return wrongKey
    const { body, query } = getValidators(route)
    if (body !== null && !body(request.body === undefined ? {} : request.body)) return makeProblem(body, '')
    if (
      body === null &&
      !isReadMethod(request.method) &&
      request.body !== undefined &&
      request.body !== null &&
      Object.keys(request.body).length > 0
    )
      return refuse('invalid_request', 'The call takes no body.').problem
    const asked = convertQuery(route, request.query as Record<string, unknown>)
    if (!query(asked)) return makeProblem(query, 'query')
    return Object.values(request.params as Record<string, string>).some((value) => value.includes('\0'))
      ? refuse('invalid_request', 'The path contains a NUL character.').problem
      : null
  }
}

function findKeyProblem({ method, headers }: FastifyRequest): Problem | null {
  const key = headers['idempotency-key']
  if (key === undefined || isReadMethod(method)) return null
  return findFieldProblem(IDEMPOTENCY_KEY, 'Idempotency-Key', key)
}

const fieldValidators = new WeakMap<JsonObject, ValidateFunction>()

/** Why the value of one field is wrong; null when it is right. */
export function findFieldProblem(schema: JsonObject, name: string, value: unknown): Problem | null {
  const validate = fieldValidators.get(schema) ?? ajv.compile(schema)
  fieldValidators.set(schema, validate)
  return validate(value) ? null : makeProblem(validate, name)
}

interface Validators {
  readonly body: ValidateFunction | null
  readonly query: ValidateFunction
}

const validators = new WeakMap<RouteDescription, Validators>()

// Compiled on a route's first request: all together take much of the start time.
function getValidators(route: RouteDescription): Validators {
  const known = validators.get(route)
  if (known !== undefined) return known
  const made = {
    body: route.body === undefined ? null : ajv.compile(route.body),
    query: ajv.compile(querySchema(route)),
  }
  validators.set(route, made)
  return made
}

function querySchema(route: RouteDescription): JsonObject {
  return { type: 'object', additionalProperties: false, properties: route.query ?? {} }
}

// Query values are text; those that the schema declares as numbers are converted, all others are kept.
function convertQuery(route: RouteDescription, query: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const isNumber =
        route.query?.[name]?.type === 'integer' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)
      return [name, isNumber ? Number(value) : value]
    }),
  )
}

function makeProblem(validate: ValidateFunction, where: string): Problem {
  const problems = (validate.errors ?? [])
    .slice(0, PROBLEMS_SHOWN_MAX)
    .map((error) => ({ field: formatField(error, where), message: formatMessage(error) }))
  const [first] = problems
  return refuse('invalid_request', `${first?.field ?? 'body'}: ${first?.message ?? 'is not valid'}`, {
    errors: problems,
  }).problem
}

function formatField(error: ErrorObject, where: string): string {
  const path = error.instancePath.split('/').filter((part) => part !== '')
  if (error.keyword === 'required') path.push(String(error.params.missingProperty))
  if (error.keyword === 'additionalProperties') path.push(String(error.params.additionalProperty))
  return [where, ...path].filter((part) => part !== '').join('.') || 'body'
}

function formatMessage(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is missing'
    case 'additionalProperties':
      return 'is not a known field'
    case 'enum':
      return `must be one of ${(error.params.allowedValues as readonly unknown[]).map((one) => JSON.stringify(one)).join(', ')}`
    case 'pattern':
      return formatPatternMessage(error)
    case 'minLength':
    case 'minItems':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${formatSize(error)}`
    case 'maxLength':
    case 'maxItems':
      return `must have at most ${formatSize(error)}`
    default:
      return error.message ?? 'is not valid'
  }
}

function formatSize({ keyword, params }: ErrorObject): string {
  const limit = Number(params.limit)
  if (keyword.endsWith('Length')) return formatCount(limit, 'character')
  return limit === 1 ? '1 entry' : `${limit} entries`
}

// People do not read regular expressions: if the field has a description, show that instead.
function formatPatternMessage(error: ErrorObject): string {
  const description: unknown = error.parentSchema?.description
  return typeof description === 'string' ? `must be: ${description}` : (error.message ?? 'is not valid')
}
