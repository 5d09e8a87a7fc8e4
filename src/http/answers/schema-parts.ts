import type { JsonObject } from '../../core/json.js'

/** Parts of response schemas. Objects are closed: an answer has no field that its schema does not name. */
export const TEXT: JsonObject = { type: 'string' }
export const TIME: JsonObject = { type: 'string', format: 'date-time' }
export const SHA256: JsonObject = { type: 'string', pattern: '^[0-9a-f]{64}$' }
export const COUNT: JsonObject = { type: 'integer', minimum: 0 }
export const INTEGER: JsonObject = { type: 'integer' }
export const NUMBER: JsonObject = { type: 'number' }
export const FLAG: JsonObject = { type: 'boolean' }
export const TRUE: JsonObject = { type: 'boolean', const: true }
export const FALSE: JsonObject = { type: 'boolean', const: false }
export const NULL: JsonObject = { type: 'null' }
/** Contents that a caller, a contract or a tool determines. */
export const ANYTHING: JsonObject = {}
export const ANY_OBJECT: JsonObject = { type: 'object', additionalProperties: true }

/** The fields of an object; a name that ends with `?` may be missing. */
export type Fields = Readonly<Record<string, JsonObject>>

export function makeObject(fields: Fields): JsonObject {
  const entries = Object.entries(fields)
  const required = entries.map(([name]) => name).filter((name) => !name.endsWith('?'))
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
  }
}

/** An object that the OpenAPI document lists under its name in `components.schemas`. */
export function nameObject(title: string, fields: Fields): JsonObject {
  return nameSchema(title, makeObject(fields))
}

export function nameSchema(title: string, schema: JsonObject): JsonObject {
  return { title, ...schema }
}

export function makeList(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

/** An object whose field names are data. */
export function makeMap(values: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: values }
}

export function allowNull(schema: JsonObject): JsonObject {
  return typeof schema.type === 'string' && schema.title === undefined && schema.enum === undefined
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, NULL] }
}

export function chooseWord<Word extends string>(...words: readonly Word[]): JsonObject {
  return { type: 'string', enum: [...words] }
}

export function chooseOne(...schemas: readonly JsonObject[]): JsonObject {
  return { anyOf: [...schemas] }
}

/** A page of a list. */
export function makePage(name: string, items: JsonObject): JsonObject {
  return makeObject({ [name]: makeList(items), next_cursor: allowNull(TEXT) })
}
