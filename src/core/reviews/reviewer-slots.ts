import type { Blocker, Contract, Phase } from '../contract/contract.js'
import type { Slot } from '../contract/contract-parts.js'
import type { TaskFact } from '../task/event.js'
import type { TaskState } from '../task/state.js'
import { isFinished, listAskedReviews, listReviewers } from './review.js'

/** The slots that open with a phase: its own, and with `opensReviews` one for each required review. */
function listSlots(phase: Phase, opensReviews: boolean): readonly Slot[] {
  const own = phase.slots ?? []
  const asked = opensReviews ? (listAskedReviews(phase) ?? []) : []
  const more = asked.filter((name) => own.every((slot) => slot.name !== name))
  return [...own, ...more.map((name) => ({ name, isAwaited: false }))]
}

/** Events of entering the phase. */
export function makeSlotFacts(contract: Contract, to: string, opensReviews: boolean): readonly TaskFact[] {
  const phase = contract.phases.get(to)
  const slots = phase === undefined ? [] : listSlots(phase, opensReviews)
  if (slots.length === 0) return []
  const awaited = slots.filter((slot) => slot.isAwaited).map((slot) => slot.name)
  return [{ type: 'reviewers_wanted', names: slots.map((slot) => slot.name), awaited }]
}

/** The check that holds a phase until the slots it waits for have finished; none if it waits for nobody. */
export function listSlotChecks(phase: Phase): readonly Blocker[] {
  const awaited = (phase.slots ?? []).filter((slot) => slot.isAwaited).map((slot) => slot.name)
  if (awaited.length === 0) return []
  const message = 'Every reviewer that the phase waits for must finish'
  const params = { required_reviews: awaited }
  return [{ check: 'all_review_models_completed', severity: 'blocking', message, params }]
}

type SlotStatus = 'wanted' | 'registered' | 'finished'

/** Progress of each slot of this visit. */
export function listSlotStatuses(state: TaskState): readonly (Slot & { readonly status: SlotStatus })[] {
  const present = new Map(listReviewers(state).map((one) => [one.name, one]))
  return state.wanted.map((slot) => {
    const reviewer = present.get(slot.name)
    if (reviewer === undefined || reviewer.status === 'revoked') return { ...slot, status: 'wanted' }
    const hasFinished = reviewer.report !== null && isFinished(reviewer.report.status)
    return { ...slot, status: hasFinished ? 'finished' : 'registered' }
  })
}
