import type { Json, JsonObject } from '../../core/json.js'

/** For JSON Schemas: `then` if `test` holds, `otherwise` if not. */
export function when(test: JsonObject, then: JsonObject, otherwise?: JsonObject): JsonObject {
  return Object.fromEntries([['if', test], ['then', then], ...(otherwise === undefined ? [] : [['else', otherwise]])])
}

/** For JSON Schemas: the field exists and its value matches. */
export function has(key: string, value?: JsonObject): JsonObject {
  return { required: [key], ...(value === undefined ? {} : { properties: { [key]: value } }) }
}

/** For JSON Schemas: none of these fields exists. */
export function hasNone(keys: readonly string[]): JsonObject {
  const [only, ...others] = keys.map((key): Json => has(key))
  return { not: others.length === 0 && only !== undefined ? only : { anyOf: keys.map((key) => has(key)) } }
}
