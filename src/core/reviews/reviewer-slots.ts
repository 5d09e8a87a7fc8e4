import type { Blocker, Contract, Phase } from '../contract/contract.js'
import type { Slot } from '../contract/contract-parts.js'
import type { TaskFact } from '../task/event.js'
import type { TaskState } from '../task/state.js'
import { isFinished, reviewersOf, reviewsAsked } from './review.js'

/** The places that open with a phase: those of its own, and with `opensReviews` one for each review it asks for. */
function slotsOf(phase: Phase, opensReviews: boolean): readonly Slot[] {
  const own = phase.slots ?? []
  const asked = opensReviews ? (reviewsAsked(phase) ?? []) : []
  const more = asked.filter((name) => own.every((slot) => slot.name !== name))
  return [...own, ...more.map((name) => ({ name, isAwaited: false }))]
}

/** What entering the phase adds to the ledger. */
export function slotFacts(contract: Contract, to: string, opensReviews: boolean): readonly TaskFact[] {
  const phase = contract.phases.get(to)
  const slots = phase === undefined ? [] : slotsOf(phase, opensReviews)
  if (slots.length === 0) return []
  const awaited = slots.filter((slot) => slot.isAwaited).map((slot) => slot.name)
  return [{ type: 'reviewers_wanted', names: slots.map((slot) => slot.name), awaited }]
}

/** The check that holds a phase until those it waits for have finished; none where it waits for nobody. */
export function slotChecks(phase: Phase): readonly Blocker[] {
  const awaited = (phase.slots ?? []).filter((slot) => slot.isAwaited).map((slot) => slot.name)
  if (awaited.length === 0) return []
  const message = 'Every reviewer that the phase waits for must finish'
  const params = { required_reviews: awaited }
  return [{ check: 'all_review_models_completed', severity: 'blocking', message, params }]
}

type SlotStatus = 'wanted' | 'registered' | 'finished'

/** How far each place of this visit is. */
export function slotStatuses(state: TaskState): readonly (Slot & { readonly status: SlotStatus })[] {
  const present = new Map(reviewersOf(state).map((one) => [one.name, one]))
  return state.wanted.map((slot) => {
    const reviewer = present.get(slot.name)
    if (reviewer === undefined || reviewer.status === 'revoked') return { ...slot, status: 'wanted' }
    const hasFinished = reviewer.report !== null && isFinished(reviewer.report.status)
    return { ...slot, status: hasFinished ? 'finished' : 'registered' }
  })
}
