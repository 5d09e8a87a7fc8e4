import type { RegistryEvent } from '../core/identity/registry.js'
import type { Json, JsonObject } from '../core/json.js'
import type { TaskEvent } from '../core/task/event.js'
import type { Cleaner } from '../store/redaction/clean-data.js'
import type { NewEvent, StoredEvent } from '../store/store.js'

/** The envelope of an event. */
export type Plain = { readonly type: string; readonly at: number; readonly actor: string }

/**
 * Prepares an event for the ledger: separate envelope, keys in snake_case. Contents written by callers keep their keys.
 */
export function toNewEvent(event: TaskEvent | RegistryEvent | Plain, clean: Cleaner['clean']): CleanEvent {
  const { type, at, actor, epoch, phase, contract, ...rest } = event as TaskEvent
  const named: Record<string, Json> = {}
  for (const key in rest) {
    const value = (rest as Record<string, Json | undefined>)[key]
    if (value !== undefined) named[toSnakeCase(key)] = value
  }
  const { data, text, isChanged } = clean(named)
  const row = { type, at, actor, epoch: epoch ?? 0, phase: phase ?? null, contract: contract ?? null, data, text }
  return { row, isChanged }
}

/** An event ready for the ledger, and whether redaction changed it. */
interface CleanEvent {
  readonly row: NewEvent
  readonly isChanged: boolean
}

/** The event as the core knows it. Only the core writes to the ledger, so the shape is trusted here. */
export function toTaskEvent(stored: NewEvent): TaskEvent {
  return { ...toCamelData(stored.data), ...pickEnvelope(stored) } as TaskEvent
}

/** The data of the event is in an archive: nothing can be folded from it. */
export function isArchived({ data }: NewEvent): boolean {
  return typeof data.archived === 'string' && typeof data.seal === 'string'
}

export function toRegistryEvent(stored: NewEvent): RegistryEvent {
  return {
    ...toCamelData(stored.data),
    type: stored.type,
    at: stored.at,
    actor: stored.actor,
  } as RegistryEvent
}

/** An event as clients see it. */
export function toEventView(stored: StoredEvent): JsonObject {
  return {
    seq: stored.seq,
    stream: stored.stream,
    version: stored.version,
    type: stored.type,
    at: toIsoTime(stored.at),
    actor: stored.actor,
    epoch: stored.epoch,
    phase: stored.phase,
    contract: stored.contract,
    data: stored.data,
    prev_hash: stored.prevHash,
    hash: stored.hash,
  }
}

export function toIsoTime(ms: number): string {
  return new Date(ms).toISOString()
}

export function toIsoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : toIsoTime(ms)
}

function pickEnvelope(stored: NewEvent) {
  const { type, at, actor, epoch, phase, contract } = stored
  return { type, at, actor, epoch, phase, contract }
}

function toCamelData(data: JsonObject): Record<string, Json> {
  const out: Record<string, Json> = {}
  for (const [key, value] of Object.entries(data)) out[toCamelCase(key)] = value
  return out
}

// Cached: events use few keys, over and over.
const KEYS_MAX = 1000
const toSnakeCase = cached((key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
const toCamelCase = cached((key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))

function cached(convert: (key: string) => string): (key: string) => string {
  const known = new Map<string, string>()
  return (key) => {
    const converted = known.get(key) ?? convert(key)
    if (known.size < KEYS_MAX) known.set(key, converted)
    return converted
  }
}
