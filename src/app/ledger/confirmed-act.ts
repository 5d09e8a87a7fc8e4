import { AsyncLocalStorage } from 'node:async_hooks'
import type { JsonObject } from '../../core/json.js'
import type { NewEvent } from '../../store/store.js'

/** An act that an operator confirmed, and how. */
export interface ConfirmedAct {
  /** `operator:NAME`. */
  readonly actor: string
  readonly confirmation: JsonObject
}

const current = new AsyncLocalStorage<ConfirmedAct>()

/** Runs the act: what it appends to the ledger in the name of the operator carries the confirmation. */
export function runConfirmed<T>(act: ConfirmedAct, work: () => Promise<T>): Promise<T> {
  return current.run(act, work)
}

/**
 * Adds the confirmation of the running act to its first event. It is added after redaction, which would take a
 * signature for a secret: everything in it was verified.
 */
export function addConfirmation(rows: readonly NewEvent[]): readonly NewEvent[] {
  const act = current.getStore()
  const [first, ...rest] = rows
  if (act === undefined || first === undefined || first.actor !== act.actor) return rows
  const data = { ...first.data, confirmation: act.confirmation }
  return [{ ...first, data, text: JSON.stringify(data) }, ...rest]
}
