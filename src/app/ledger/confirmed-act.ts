import { AsyncLocalStorage } from 'node:async_hooks'
import type { JsonObject } from '../../core/json.js'
import type { NewEvent } from '../../store/store.js'

/** An act that an operator confirmed, and how. */
export interface ConfirmedAct {
  /** `operator:NAME`. */
  readonly actor: string
  readonly confirmation: JsonObject
}

interface Running extends ConfirmedAct {
  /** The type of the event that carries the confirmation. */
  type: string | null
}

const current = new AsyncLocalStorage<Running>()

/** Runs the act: the first event that it appends in the name of the operator carries the confirmation. */
export function runConfirmed<T>(act: ConfirmedAct, work: () => Promise<T>): Promise<T> {
  return current.run({ ...act, type: null }, work)
}

/**
 * Adds the confirmation of the running act to its first event, also when that is written again after a conflict. It is
 * added after redaction, which would take a signature for a secret: everything in it was verified.
 */
export function addConfirmation(rows: readonly NewEvent[]): readonly NewEvent[] {
  const act = current.getStore()
  const [first, ...rest] = rows
  if (act === undefined || first === undefined || first.actor !== act.actor) return rows
  act.type ??= first.type
  if (act.type !== first.type) return rows
  const data = { ...first.data, confirmation: act.confirmation }
  return [{ ...first, data, text: JSON.stringify(data) }, ...rest]
}
