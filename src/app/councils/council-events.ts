import { createHash } from 'node:crypto'
import type { RunCommand } from '../../core/councils/command.js'
import type { RunEvent } from '../../core/councils/event.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { Blob, NewEvent } from '../../store/store.js'
import type { App } from '../app.js'

/** Texts of events that may be long; past this they are kept beside the event, which names them by their hash. */
const LONG_TEXTS = ['question', 'content', 'text'] as const
const INLINE_CHARS_MAX = 2000

/** What the core chose from words of its own, ids that operators gave, and labels: no agent writes any of these. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...['type', 'id', 'agent', 'agents', 'council', 'options', 'isConsensus', 'knownTools', 'handled', 'finishReason'],
  ...['label', 'shown', 'voided', 'votedFor', 'verdict', 'winner', 'tokens'],
])

/**
 * A command or an event without the secrets in its texts. What holds a run together stays as it is: a key may be a word
 * like any other, and an agent whose id becomes another one is lost.
 */
export function redactSecrets<T extends RunCommand | RunEvent>(whole: T, redact: App['redact']): T {
  const fields = Object.entries(whole as unknown as JsonObject)
  const clean = fields.map(([name, value]) => [name, STRUCTURE.has(name) ? value : redact(value)])
  return Object.fromEntries(clean) as T
}

/** The same event as it is appended: keys in snake_case, long texts apart. The envelope stays as it is. */
export function toRunRecord(event: RunEvent): { readonly event: RunEvent; readonly blobs: readonly Blob[] } {
  const blobs: Blob[] = []
  const record: Record<string, Json> = {}
  for (const [name, value] of Object.entries(event as unknown as JsonObject)) {
    const isLong = LONG_TEXTS.some((text) => text === name) && typeof value === 'string'
    if (!isLong || value.length <= INLINE_CHARS_MAX) {
      record[name] = renameKeys(value, toSnakeCase)
      continue
    }
    const sha256 = createHash('sha256').update(value).digest('hex')
    blobs.push({ sha256, content: value })
    record[name] = { sha256, chars: value.length }
  }
  return { event: record as unknown as RunEvent, blobs }
}

/** The event as the core made it. What the ledger holds is what the core made, so the shape is trusted here. */
export async function toRunEvent(
  stored: NewEvent,
  textOf: (sha256: string) => Promise<string | null>,
): Promise<RunEvent> {
  const event: Record<string, Json> = { type: stored.type, at: stored.at }
  for (const [name, value] of Object.entries(await loadLongTexts(stored.data, textOf)))
    event[toCamelCase(name)] = renameKeys(value, toCamelCase)
  return event as unknown as RunEvent
}

/** The data of an event with its long texts in place. */
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

/** Keys of what the core made, never of what agents wrote: agents write texts, and those have no keys. */
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
