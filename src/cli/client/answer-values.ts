import type { Json, JsonObject } from '../../core/json.js'

/** What a field of an event's data holds, as text; empty when it holds nothing. */
export function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(toText).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An RFC 3339 time to the second, as people read it. */
export function formatTime(value: string | null | undefined): string {
  return (value ?? '').replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** The object without what was not given. */
export function compact(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  ) as JsonObject
}
