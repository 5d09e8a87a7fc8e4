import type { Json, JsonObject } from '../../core/json.js'

/** What an answer's field holds, as text; empty when it holds nothing. */
export function toText(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map((one) => toText(one as Json)).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : []
}

export function toObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

/** An RFC 3339 time to the second, as people read it. */
export function formatTime(value: Json | undefined): string {
  return toText(value)
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z')
}

/** The object without what was not given. */
export function compact(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  ) as JsonObject
}
