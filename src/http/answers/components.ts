import type { Json, JsonObject } from '../../core/json.js'

/** Collects schemas with a `title`, which the OpenAPI document lists once and refers to. */
export class Components {
  readonly #schemas = new Map<string, { readonly text: string; readonly schema: JsonObject }>()
  readonly #known = new Map<Json, Json>()

  /** The schema with a reference in place of every named part. */
  lift(schema: JsonObject): JsonObject {
    return this.#lift(schema) as JsonObject
  }

  list(): JsonObject {
    return Object.fromEntries(
      [...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { schema }]) => [name, schema]),
    )
  }

  #lift(value: Json): Json {
    if (value === null || typeof value !== 'object') return value
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const lifted: Json = Array.isArray(value)
      ? value.map((item: Json) => this.#lift(item))
      : this.#refer(Object.fromEntries(Object.entries(value).map(([key, part]) => [key, this.#lift(part)])))
    this.#known.set(value, lifted)
    return lifted
  }

  #refer(schema: JsonObject): JsonObject {
    const { title: name, ...rest } = schema
    // A field called `title` is a schema, not a name.
    if (typeof name !== 'string') return schema
    const text = JSON.stringify(rest)
    const before = this.#schemas.get(name)
    if (before !== undefined && before.text !== text) throw new Error(`two different schemas are named ${name}`)
    this.#schemas.set(name, { text, schema: rest })
    return { $ref: `#/components/schemas/${name}` }
  }
}
