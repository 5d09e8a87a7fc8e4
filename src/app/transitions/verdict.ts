import type { TaskEvent } from '../../core/task/event.js'
import type { Refusal } from '../../core/task/refusal.js'
import type { CommandResult } from '../ledger/ledger.js'

type Event<T extends TaskEvent['type']> = Extract<TaskEvent, { readonly type: T }>

/** Outcome of a request to leave a phase. */
export type Verdict =
  | { readonly kind: 'passed'; readonly event: Event<'gate_passed'>; readonly isEntered: boolean }
  | { readonly kind: 'blocked'; readonly event: Event<'gate_blocked'> }
  | { readonly kind: 'incomplete'; readonly event: Event<'checkpoint_refused'> }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

export function readVerdict({ events, refusal }: CommandResult): Verdict {
  for (const event of events) {
    if (event.type === 'checkpoint_refused') return { kind: 'incomplete', event }
    if (event.type === 'gate_blocked') return { kind: 'blocked', event }
    if (event.type === 'gate_passed')
      return { kind: 'passed', event, isEntered: events.some(({ type }) => type === 'phase_entered') }
  }
  if (refusal === null) throw new Error('a transition was neither passed nor blocked')
  return { kind: 'refused', refusal }
}
