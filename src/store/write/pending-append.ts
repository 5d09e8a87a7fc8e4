import { type Append, type AppendResult, StoreUnavailable } from '../store.js'
import { toStoredEvents, type WireAppend, type WireResult } from '../wire.js'

/** An append that waits for its result. */
export interface Pending {
  readonly append: Append
  readonly chars: number
  readonly resolve: (result: AppendResult) => void
  readonly reject: (error: Error) => void
}

export function settle(pending: Pending, result: WireResult): void {
  if (result.ok) pending.resolve({ ok: true, events: toStoredEvents(pending.append, result) })
  else if (result.reason === 'refused') pending.reject(new TypeError(`The ledger rejected this: ${result.message}`))
  else if (result.reason === 'unavailable') pending.reject(new StoreUnavailable(result.message))
  else pending.resolve(toRefusedResult(result))
}

function toRefusedResult(
  result: Extract<WireResult, { reason: 'version_conflict' | 'agent_busy' | 'key_taken' | 'wrong_node' }>,
): AppendResult {
  const { ok } = result
  if (result.reason === 'version_conflict') return { ok, reason: result.reason, version: result.version }
  if (result.reason === 'wrong_node') return { ok, reason: result.reason, home: result.home }
  return { ok, reason: result.reason }
}

export function countChars(wire: WireAppend): number {
  let chars = wire.stream.length
  for (const event of wire.events) chars += event[6].length
  for (const blob of wire.blobs ?? []) chars += blob.content.length
  return chars + (wire.remember?.answerText.length ?? 0)
}
