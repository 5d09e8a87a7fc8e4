import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Json, JsonObject } from '../core/json.js'
import { findBuiltInSchemas } from './bundled-contracts.js'
import { hashJson } from './fingerprint.js'
import { compilePattern } from './patterns.js'

export interface SchemaError {
  /** A JSON pointer into the judged value. */
  readonly pointer: string
  readonly message: string
}

/** Judges a value; no errors means that it is valid. Never throws. */
type Validator = (value: unknown) => SchemaError[]

const ERRORS_MAX = 100
const VALIDATORS_MAX = 500
const cache = new Map<string, Validator>()

/**
 * Compiles a JSON Schema (2020-12, or draft-07 by `$schema`). Patterns match in linear time and nothing is fetched.
 * Throws on a schema that `findSchemaProblems` reports; contracts are checked for these when they are loaded.
 */
export function compileSchema(schema: JsonObject | boolean): Validator {
  const key = hashJson(schema)
  const known = cache.get(key)
  if (known !== undefined) return known
  const validator = guardValidator(compileWithAjv(schema))
  if (cache.size >= VALIDATORS_MAX) cache.delete(cache.keys().next().value ?? '')
  cache.set(key, validator)
  return validator
}

let patternCount = 0

// Ajv keys a custom regular expression by its toString(): with the inherited one, every pattern would become the first.
function makeLinearRegExp(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = compilePattern(pattern)
  if (!compiled.ok) throw new Error(`pattern '${pattern}' is refused: ${compiled.reason}`)
  patternCount += 1
  const key = `linear pattern ${patternCount}`
  return { test: compiled.test, toString: () => key }
}
makeLinearRegExp.code = 'linearRegExp'

export function isDraft07(schema: Json): boolean {
  const dialect = typeof schema === 'object' && schema !== null && '$schema' in schema ? schema.$schema : undefined
  return typeof dialect === 'string' && /^http:\/\/json-schema\.org\/draft-07\/schema#?$/.test(dialect)
}

const OPTIONS = {
  allErrors: true,
  strict: false,
  inlineRefs: false,
  ownProperties: true,
  logger: false,
  code: { regExp: makeLinearRegExp },
} as const

// Compiling the meta-schemas is expensive, so one instance per dialect only judges schemas.
const judges = new Map<string, Ajv>()

/** The problems of a schema according to its dialect's meta-schema; pointers lead into the schema. */
export function findSchemaErrors(schema: JsonObject): SchemaError[] {
  if (isBuiltIn(schema)) return []
  const dialect = isDraft07(schema) ? 'draft-07' : '2020-12'
  const judge = judges.get(dialect) ?? makeAjv(schema, {})
  judges.set(dialect, judge)
  if (judge.validateSchema(clonePlain(schema)) === true) return []
  return (judge.errors ?? []).slice(0, ERRORS_MAX).map(toSchemaError)
}

let builtIn: ReadonlySet<string> | null = null

// A test checks the built-in schemas against their meta-schema; a server that uses no others need not compile it.
function isBuiltIn(schema: JsonObject): boolean {
  const folder = findBuiltInSchemas()
  builtIn ??= new Set(
    readdirSync(folder).map((name) => hashJson(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Json)),
  )
  return builtIn.has(hashJson(schema))
}

function compileWithAjv(schema: JsonObject | boolean): ValidateFunction {
  if (typeof schema === 'boolean') return makeAjv(schema, {}).compile(schema)
  const [error] = findSchemaErrors(schema)
  if (error !== undefined) throw new Error(`${error.pointer} ${error.message}`)
  // Ajv caches compiled schemas by $id: use a fresh instance each, or two contracts could not both bring one.
  return makeAjv(schema, { validateSchema: false }).compile(clonePlain(schema))
}

function makeAjv(schema: Json, more: { readonly validateSchema?: false }): Ajv {
  const options = { ...OPTIONS, ...more }
  const ajv = (isDraft07(schema) ? new Ajv(options) : new Ajv2020(options)) as Ajv
  addFormats.default(ajv)
  return ajv
}

function clonePlain(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject
}

function guardValidator(validate: ValidateFunction): Validator {
  return (value) => {
    try {
      if (validate(value)) return []
      return (validate.errors ?? []).slice(0, ERRORS_MAX).map(toSchemaError)
    } catch (cause) {
      // A schema that refers to itself without end, or a value nested too deeply, exhausts the stack: not valid.
      const reason = cause instanceof Error ? cause.message : String(cause)
      return [{ pointer: '', message: `could not be judged: ${reason}` }]
    }
  }
}

function toSchemaError(error: ErrorObject): SchemaError {
  const extra = error.keyword === 'additionalProperties' ? `: ${String(error.params.additionalProperty)}` : ''
  const allowed =
    error.keyword === 'enum' ? `: ${(error.params.allowedValues as unknown[]).map(String).join(', ')}` : ''
  return { pointer: error.instancePath, message: `${error.message ?? error.keyword}${extra}${allowed}` }
}
