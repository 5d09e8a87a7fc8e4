import { isObject, type Json, type JsonObject } from '../json.js'

type Schema = JsonObject | boolean | undefined

/**
 * An artifact in the form that its schema asks for. A bare list becomes the only required key of the object, where that
 * key holds a list; anything else stays as it is. The schema judges the result.
 */
export function wrapBareList(schema: Schema, content: Json): Json {
  const [key, ...others] = listRequiredKeys(schema)
  const isOnlyList = key !== undefined && others.length === 0 && readKeyType(schema, key) === 'array'
  return Array.isArray(content) && isOnlyList ? { [key]: content } : content
}

/** Which object a schema asks for, as part of a request; null: it asks for no object. */
export function describeShape(type: string, schema: Schema): string | null {
  if (!isObjectSchema(schema)) return null
  const keys = listRequiredKeys(schema)
  const fields = keys.map((key) => `${JSON.stringify(key)}: ${EXAMPLES.get(readKeyType(schema, key) ?? '') ?? '…'}`)
  return `"artifacts": {${JSON.stringify(type)}: {${fields.join(', ') || '…'}}}`
}

const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ['array', '[…]'],
  ['object', '{…}'],
  ['string', '"…"'],
])

function isObjectSchema(schema: Schema): schema is JsonObject {
  return isObject(schema) && schema.type === 'object'
}

function listRequiredKeys(schema: Schema): readonly string[] {
  if (!isObjectSchema(schema) || !Array.isArray(schema.required)) return []
  return schema.required.filter((key) => typeof key === 'string')
}

function readKeyType(schema: Schema, key: string): string | null {
  const properties = isObject(schema) ? schema.properties : undefined
  const property = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined
  return isObject(property) && typeof property.type === 'string' ? property.type : null
}
