import { sha256Hex } from '../../base/sha256.js'
import type { RunCommand } from '../../core/councils/command.js'
import type { RunEvent } from '../../core/councils/event.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { Blob, NewEvent } from '../../store/store.js'
import type { Resources } from '../resources.js'

/** Longer texts of events are stored separately, and the event refers to them by hash. */
const LONG_TEXTS = ['question', 'content', 'text'] as const
const INLINE_CHARS_MAX = 2000

/** Values chosen by the core, ids given by operators, and labels. Agents write none of these. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...['type', 'id', 'agent', 'agents', 'council', 'options', 'isConsensus', 'knownTools', 'handled', 'finishReason'],
  ...['label', 'shown', 'voided', 'votedFor', 'verdict', 'winner', 'tokens'],
])

/**
 * A command or an event with the secrets removed from its texts. Keys and ids stay unchanged: an agent whose id changed
 * would be lost.
 */
export function redactSecrets<T extends RunCommand | RunEvent>(whole: T, redact: Resources['redact']): T {
  const fields = Object.entries(whole)
  const clean = fields.map(([name, value]) => [name, STRUCTURE.has(name) ? value : redact(value)])
  return Object.fromEntries(clean) as T
}

/** The event as it is appended: keys in snake_case, long texts stored separately. The envelope stays unchanged. */
export function toRunRecord(event: RunEvent): { readonly event: RunEvent; readonly blobs: readonly Blob[] } {
  const blobs: Blob[] = []
  const record: Record<string, Json> = {}
  for (const [name, value] of Object.entries(event)) {
    const isLong = LONG_TEXTS.some((text) => text === name) && typeof value === 'string'
    if (!isLong || value.length <= INLINE_CHARS_MAX) {
      record[name] = renameKeys(value, toSnakeCase)
      continue
    }
    const sha256 = sha256Hex(value)
    blobs.push({ sha256, content: value })
    record[name] = { sha256, chars: value.length }
  }
  return { event: record as RunEvent, blobs }
}

/** The event as the core made it. Only the core writes to the ledger, so the shape is trusted here. */
export async function toRunEvent(
  stored: NewEvent,
  textOf: (sha256: string) => Promise<string | null>,
): Promise<RunEvent> {
  const event: Record<string, Json> = { type: stored.type, at: stored.at }
  for (const [name, value] of Object.entries(await loadLongTexts(stored.data, textOf)))
    event[toCamelCase(name)] = renameKeys(value, toCamelCase)
  return event as RunEvent
}

/** The data of an event with its long texts restored. */
export async function loadLongTexts(
  data: JsonObject,
  textOf: (sha256: string) => Promise<string | null>,
): Promise<JsonObject> {
  const whole: Record<string, Json> = { ...data }
  for (const name of LONG_TEXTS) {
    const kept = data[name]
    if (typeof kept !== 'object' || kept === null || Array.isArray(kept)) continue
    const sha256 = String((kept as JsonObject).sha256)
    const text = await textOf(sha256)
    if (text === null) throw new Error(`the text ${sha256} of an event is not in the store`)
    whole[name] = text
  }
  return whole
}

/** Only keys made by the core: agents write texts, which have no keys. */
function renameKeys(value: Json, rename: (key: string) => string): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one: Json) => renameKeys(one, rename))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [rename(key), renameKeys(one, rename)]))
}

function toSnakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function toCamelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
