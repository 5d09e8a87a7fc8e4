import type { Json, JsonObject } from '../../core/json.js'

/** A field of an event's data as text; empty when it has none. */
export function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(toText).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** An RFC 3339 time to the second, for people. */
export function formatTime(value: string | null | undefined): string {
  return (value ?? '').replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** The object without undefined members. */
export function compact(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  ) as JsonObject
}
