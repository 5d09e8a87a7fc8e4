import { isObject, type Json, type JsonObject } from '../../core/json.js'
import { toCanonicalJson } from '../fingerprint.js'
import { compilePattern } from '../patterns.js'

type Schema = JsonObject | boolean

/** Alternatives multiply: beyond this number nothing is certain any more. */
const STEPS_MAX = 5000
const TYPES = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
type Type = (typeof TYPES)[number]

/**
 * Why no value matches all of these schemas at once; null when one may. Finds only certain conflicts: unknown keywords,
 * references and patterns of values are assumed to accept everything.
 */
export function findConflict(schemas: readonly Schema[]): string | null {
  return findConflictAt(schemas, { pointer: '', budget: { left: STEPS_MAX } })
}

interface At {
  readonly pointer: string
  readonly budget: { left: number }
}

function findConflictAt(schemas: readonly Schema[], at: At): string | null {
  at.budget.left -= 1
  if (at.budget.left < 0) return null
  const { pointer } = at
  const all = flatten(schemas)
  if (all === null) return `${formatPlace(pointer)} accepts no value`
  const candidates = listCandidates(all)
  if (candidates !== null) return candidates.length > 0 ? null : `${formatPlace(pointer)} accepts no value`
  const types = listTypes(all)
  if (types.length === 0) return `${formatPlace(pointer)} would have to be of two types at once`
  const reasons = types.map((type) => findConflictOfType(type, all, at))
  if (reasons.every((reason) => reason !== null)) return reasons[0] ?? null
  return findConflictOfAlternatives(all, at)
}

// Next to a reference draft-07 ignores all other keywords, so nothing is certain about such a schema.
function flatten(schemas: readonly Schema[]): readonly JsonObject[] | null {
  const flat: JsonObject[] = []
  for (const schema of schemas) {
    if (schema === false) return null
    if (schema === true || Object.keys(schema).some((key) => key.endsWith('Ref') || key === '$ref')) continue
    if (schema.not === true || (isObject(schema.not) && Object.keys(schema.not).length === 0)) return null
    const parts = flatten(listSchemas(schema.allOf))
    if (parts === null) return null
    flat.push(schema, ...parts)
  }
  return flat
}

function findConflictOfAlternatives(all: readonly JsonObject[], at: At): string | null {
  const base = all.map(({ anyOf: _, oneOf: __, ...rest }): JsonObject => rest)
  for (const { anyOf, oneOf } of all) {
    for (const alternatives of [listSchemas(anyOf), listSchemas(oneOf)]) {
      if (alternatives.length === 0) continue
      const reasons = alternatives.map((alternative) => findConflictAt([...base, alternative], at))
      if (reasons.every((reason) => reason !== null)) return reasons[0] ?? null
    }
  }
  return null
}

/** The possible values, if the schemas list them or allow only one number; null: they cannot be listed. */
function listCandidates(all: readonly JsonObject[]): readonly Json[] | null {
  const listing = all.find((schema) => schema.const !== undefined || Array.isArray(schema.enum))
  const listed = listing?.const !== undefined ? [listing.const] : (listing?.enum as readonly Json[] | undefined)
  const single = findOnlyNumber(all)
  const values = listed ?? (single === null ? null : [single])
  return values?.filter((value) => all.every((schema) => isAccepted(value, schema))) ?? null
}

function findOnlyNumber(all: readonly JsonObject[]): number | null {
  const types = listTypes(all)
  const { least, most } = computeRange(all)
  return types.length === 1 && types[0] === 'number' && least === most ? least : null
}

function isAccepted(value: Json, schema: JsonObject): boolean {
  const same = (one: Json | undefined): boolean => one !== undefined && toCanonicalJson(one) === toCanonicalJson(value)
  if (schema.const !== undefined && !same(schema.const)) return false
  if (Array.isArray(schema.enum) && !schema.enum.some(same)) return false
  if (isObject(schema.not) && schema.not.const !== undefined && same(schema.not.const)) return false
  const named = listNamedTypes(schema)
  if (named !== null && !named.includes(getType(value))) return false
  if (typeof value === 'number') {
    const { least, most } = computeRange([schema])
    return value >= least && value <= most && (!isWhole([schema]) || Number.isInteger(value))
  }
  if (typeof value !== 'string') return true
  const size = [...value].length
  if (size < getNumber(schema, 'minLength', 0) || size > getNumber(schema, 'maxLength', Infinity)) return false
  const pattern = typeof schema.pattern === 'string' ? compilePattern(schema.pattern) : null
  return pattern === null || !pattern.ok || pattern.test(value)
}

function findConflictOfType(type: Type, all: readonly JsonObject[], at: At): string | null {
  if (type === 'number') {
    const { least, most } = computeRange(all)
    return least > most ? `${formatPlace(at.pointer)} has bounds that no number meets` : null
  }
  if (type === 'string') return findConflictOfSize(all, ['minLength', 'maxLength'], at)
  if (type === 'array') return findConflictOfSize(all, ['minItems', 'maxItems'], at) ?? findConflictOfItems(all, at)
  if (type === 'object')
    return findConflictOfSize(all, ['minProperties', 'maxProperties'], at) ?? findConflictOfMembers(all, at)
  return null
}

function findConflictOfSize(all: readonly JsonObject[], keys: readonly [string, string], at: At): string | null {
  const least = Math.max(...all.map((schema) => getNumber(schema, keys[0], 0)))
  const most = Math.min(...all.map((schema) => getNumber(schema, keys[1], Infinity)))
  return least > most ? `${formatPlace(at.pointer)} needs at least ${least} and at most ${most} entries` : null
}

function findConflictOfItems(all: readonly JsonObject[], { pointer, budget }: At): string | null {
  const isEmptyAllowed = all.every((schema) => getNumber(schema, 'minItems', 0) < 1)
  if (isEmptyAllowed || all.some((schema) => schema.prefixItems !== undefined || Array.isArray(schema.items)))
    return null
  const items = all.flatMap(({ items }) => (isSchema(items) ? [items] : []))
  return findConflictAt(items, { pointer: `${pointer}/0`, budget })
}

function findConflictOfMembers(all: readonly JsonObject[], { pointer, budget }: At): string | null {
  const required = new Set(all.flatMap((schema) => (Array.isArray(schema.required) ? schema.required.map(String) : [])))
  for (const name of required) {
    const path = `${pointer}/${name}`
    const members = all.flatMap((schema) => listMemberSchemas(schema, name))
    if (members.includes(false)) return `${path} is required and not accepted`
    const conflict = findConflictAt(members, { pointer: path, budget })
    if (conflict !== null) return conflict
  }
  return null
}

function listMemberSchemas(schema: JsonObject, name: string): readonly Schema[] {
  const own =
    isObject(schema.properties) && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
  const patterns = isObject(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
  const matching = patterns.flatMap(([pattern, member]) => {
    const compiled = compilePattern(pattern)
    // A schema that cannot be judged may apply to this name.
    return !compiled.ok || compiled.test(name) ? [compiled.ok ? member : true] : []
  })
  const found = [...(own === undefined ? [] : [own]), ...matching].filter(isSchema)
  if (found.length > 0) return found
  return isSchema(schema.additionalProperties) ? [schema.additionalProperties] : []
}

function listTypes(all: readonly JsonObject[]): readonly Type[] {
  return TYPES.filter((type) => all.every((schema) => listNamedTypes(schema)?.includes(type) ?? true))
}

function listNamedTypes(schema: JsonObject): readonly string[] | null {
  if (schema.type === undefined) return null
  const named = Array.isArray(schema.type) ? schema.type.map(String) : [String(schema.type)]
  return named.map((type) => (type === 'integer' ? 'number' : type))
}

function getType(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isWhole(all: readonly JsonObject[]): boolean {
  return all.some(
    ({ type }) => type === 'integer' || (Array.isArray(type) && type.includes('integer') && !type.includes('number')),
  )
}

function computeRange(all: readonly JsonObject[]): { readonly least: number; readonly most: number } {
  const above = Math.max(...all.map((schema) => getNumber(schema, 'exclusiveMinimum', -Infinity)))
  const below = Math.min(...all.map((schema) => getNumber(schema, 'exclusiveMaximum', Infinity)))
  const least = Math.max(...all.map((schema) => getNumber(schema, 'minimum', -Infinity)))
  const most = Math.min(...all.map((schema) => getNumber(schema, 'maximum', Infinity)))
  if (isWhole(all))
    return {
      least: Math.max(Math.ceil(least), Math.floor(above) + 1),
      most: Math.min(Math.floor(most), Math.ceil(below) - 1),
    }
  const isEmpty = above >= below || above >= most || least >= below
  return isEmpty ? { least: 1, most: 0 } : { least: Math.max(least, above), most: Math.min(most, below) }
}

function getNumber(schema: JsonObject, key: string, otherwise: number): number {
  const value = schema[key]
  return typeof value === 'number' ? value : otherwise
}

function listSchemas(value: Json | undefined): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : []
}

function isSchema(value: Json | undefined): value is Schema {
  return typeof value === 'boolean' || isObject(value)
}

function formatPlace(pointer: string): string {
  return pointer === '' ? 'the schema' : pointer
}
