import { isObject, type Json, type JsonObject } from '../../core/json.js'
import { compilePattern } from '../patterns.js'
import { compileSchema, findSchemaErrors, isDraft07, type SchemaError } from '../schemas.js'

interface SchemaProblem {
  readonly code: 'contract.invalid_schema' | 'contract.invalid_regex'
  /** Keys from the schema's root to the problem. */
  readonly path: readonly string[]
  readonly message: string
}

const DIALECTS = /^(https:\/\/json-schema\.org\/draft\/2020-12\/schema|http:\/\/json-schema\.org\/draft-07\/schema)#?$/
/** Keywords whose members are names, not keywords. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
/** Keywords whose value is data, not a schema. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'required', 'type'])

/** All problems of a schema; none means that `compileSchema` accepts it. */
export function findSchemaProblems(schema: Json): SchemaProblem[] {
  if (typeof schema === 'boolean') return []
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) {
    return [{ code: 'contract.invalid_schema', path: [], message: 'A schema is an object, true or false.' }]
  }
  const object = schema as JsonObject
  const dialect = object.$schema
  if (dialect !== undefined && !(typeof dialect === 'string' && DIALECTS.test(dialect))) {
    const message = `The dialect '${String(dialect)}' is not known; schemas are 2020-12 or draft-07.`
    return [{ code: 'contract.invalid_schema', path: ['$schema'], message }]
  }
  const found: SchemaProblem[] = []
  const ids = collectOwnIds(object)
  walk(object, [], (node, path) => found.push(...findNodeProblems(node, path, ids)))
  if (found.length > 0) return found
  const [wrong] = findSchemaErrors(object)
  return wrong === undefined ? findCompileProblems(object) : [toSchemaProblem(object, wrong)]
}

function findNodeProblems(node: JsonObject, path: readonly string[], ids: ReadonlySet<string>): SchemaProblem[] {
  const problems: SchemaProblem[] = []
  for (const keyword of ['$ref', '$dynamicRef']) {
    const reference = node[keyword]
    if (typeof reference !== 'string' || reference.startsWith('#')) continue
    if (ids.has(reference.split('#')[0] ?? '')) continue
    const message = `The reference '${reference}' leads out of the schema; nothing is fetched.`
    problems.push({ code: 'contract.invalid_schema', path: [...path, keyword], message })
  }
  const patterns: [readonly string[], string][] = []
  if (typeof node.pattern === 'string') patterns.push([[...path, 'pattern'], node.pattern])
  const named = node.patternProperties
  if (typeof named === 'object' && named !== null) {
    for (const pattern of Object.keys(named)) patterns.push([[...path, 'patternProperties', pattern], pattern])
  }
  for (const [at, pattern] of patterns) {
    const compiled = compilePattern(pattern)
    if (compiled.ok) continue
    problems.push({
      code: 'contract.invalid_regex',
      path: at,
      message: `The pattern '${pattern}' is refused: ${compiled.reason}.`,
    })
  }
  return problems
}

/** The `$id`s in the schema, whole and by their last segment: references may name them without leaving the document. */
function collectOwnIds(root: JsonObject): ReadonlySet<string> {
  const ids = new Set<string>()
  walk(root, [], (node) => {
    if (typeof node.$id !== 'string') return
    const id = node.$id.split('#')[0] ?? ''
    ids.add(id)
    ids.add(id.slice(id.lastIndexOf('/') + 1))
  })
  return ids
}

function toSchemaProblem(schema: JsonObject, { pointer, message }: SchemaError): SchemaProblem {
  const path = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const dialect = isDraft07(schema) ? 'draft-07' : '2020-12'
  return { code: 'contract.invalid_schema', path, message: `Not a valid JSON Schema (${dialect}): ${message}.` }
}

function findCompileProblems(schema: JsonObject): SchemaProblem[] {
  try {
    const validate = compileSchema(schema)
    const endless = [null, 0, '', [], {}]
      .flatMap((probe) => validate(probe))
      .find((error) => error.message.startsWith('could not be judged'))
    if (endless === undefined) return []
    return [{ code: 'contract.invalid_schema', path: [], message: `The schema cannot be used: it ${endless.message}.` }]
  } catch (cause) {
    const reason = (cause instanceof Error ? cause.message : String(cause)).slice(0, 500)
    const dialect = isDraft07(schema) ? 'draft-07' : '2020-12'
    return [{ code: 'contract.invalid_schema', path: [], message: `Not a valid JSON Schema (${dialect}): ${reason}.` }]
  }
}

/** Visits every subschema; depth is bounded where the contract is parsed. */
function walk(
  node: JsonObject,
  path: readonly string[],
  visit: (node: JsonObject, path: readonly string[]) => void,
): void {
  visit(node, path)
  for (const [keyword, value] of Object.entries(node)) {
    if (DATA.has(keyword) || typeof value !== 'object' || value === null) continue
    const here = [...path, keyword]
    if (NAMED.has(keyword) || Array.isArray(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (isObject(member)) walk(member, [...here, name], visit)
      }
    } else walk(value as JsonObject, here, visit)
  }
}
