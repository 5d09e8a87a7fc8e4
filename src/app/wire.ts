import type { Json, JsonObject } from '../core/contract.js'
import type { TaskEvent } from '../core/event.js'
import type { RegistryEvent } from '../core/registry.js'
import type { NewEvent, StoredEvent } from '../store/port.js'

/** Makes an event ready for the ledger: envelope apart, keys in snake_case. Contents that callers wrote keep their own keys. */
export function toNewEvent(event: TaskEvent | RegistryEvent, clean: (data: JsonObject) => JsonObject): NewEvent {
  const { type, at, actor, epoch, phase, contract, ...rest } = event as TaskEvent
  const data: Record<string, Json> = {}
  for (const [key, value] of Object.entries(rest)) if (value !== undefined) data[snake(key)] = value as Json
  return { type, at, actor, epoch: epoch ?? 0, phase: phase ?? null, contract: contract ?? null, data: clean(data) }
}

/** The event as the core knows it. What the ledger holds is what the core made, so the shape is trusted here. */
export function toTaskEvent(stored: NewEvent): TaskEvent {
  return { ...camelData(stored.data), ...envelope(stored) } as unknown as TaskEvent
}

export function toRegistryEvent(stored: NewEvent): RegistryEvent {
  return {
    ...camelData(stored.data),
    type: stored.type,
    at: stored.at,
    actor: stored.actor,
  } as unknown as RegistryEvent
}

/** An event as people and programs see it. */
export function eventView(stored: StoredEvent): JsonObject {
  return {
    seq: stored.seq,
    stream: stored.stream,
    version: stored.version,
    type: stored.type,
    at: isoTime(stored.at),
    actor: stored.actor,
    epoch: stored.epoch,
    phase: stored.phase,
    contract: stored.contract,
    data: stored.data,
    prev_hash: stored.prevHash,
    hash: stored.hash,
  }
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}

function envelope(stored: NewEvent) {
  const { type, at, actor, epoch, phase, contract } = stored
  return { type, at, actor, epoch, phase, contract }
}

function camelData(data: JsonObject): Record<string, Json> {
  const out: Record<string, Json> = {}
  for (const [key, value] of Object.entries(data)) out[camel(key)] = value
  return out
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
