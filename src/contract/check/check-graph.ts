import type { ContractDocument, PhaseDocument, TransitionDocument } from '../document.js'
import { formatDidYouMean } from '../nearest.js'
import type { Reading } from '../read/reading.js'

/** Phases and transitions: every name known, every phase reachable, a final phase reachable from everywhere. */
export function checkGraph(reading: Reading, document: ContractDocument): void {
  const ids = checkIds(reading, document.phases)
  if (document.phases.length === 0) return
  const hasUnknown = [
    checkStart(reading, document, ids),
    ...document.transitions.map((t) => checkEnds(reading, t, ids)),
  ]
  checkTwice(reading, document.transitions)
  // A misspelt name is already reported; judging the rest of the graph would only repeat that mistake.
  if (hasUnknown.includes(true)) return
  const forward = computeClosure([document.start_node], document.transitions, (t) => [t.from, t.to])
  const finals = document.phases.filter((phase) => isFinal(phase, document.transitions)).map((phase) => phase.id)
  const backward = computeClosure(finals, document.transitions, (t) => [t.to, t.from])
  for (const phase of document.phases) {
    if (!forward.has(phase.id)) {
      const message = `The phase '${phase.id}' cannot be reached from '${document.start_node}'.`
      reading.reportAt('contract.unreachable_phase', [phase, 'id'], message)
    } else if (!backward.has(phase.id)) {
      const message = `From the phase '${phase.id}' no final phase can be reached.`
      reading.reportAt('contract.no_terminal_phase', [phase, 'id'], message)
    }
  }
}

/** A phase without outgoing transitions ends the task. */
export function isFinal(phase: PhaseDocument, transitions: readonly TransitionDocument[]): boolean {
  return !transitions.some((transition) => transition.from === phase.id)
}

/** The phases from which `phase` can be reached, and itself. */
export function listPhasesUpTo(document: ContractDocument, phase: string): ReadonlySet<string> {
  return computeClosure([phase], document.transitions, (t) => [t.to, t.from])
}

/** The phases that a task can reach without ever taking this transition. */
export function listReachedWithout(document: ContractDocument, left: TransitionDocument): ReadonlySet<string> {
  const others = document.transitions.filter((transition) => transition !== left)
  return computeClosure([document.start_node], others, (t) => [t.from, t.to])
}

function computeClosure(
  start: readonly string[],
  transitions: readonly TransitionDocument[],
  step: (transition: TransitionDocument) => readonly [from: string, to: string],
): ReadonlySet<string> {
  const next = new Map<string, string[]>()
  for (const transition of transitions) {
    const [from, to] = step(transition)
    const targets = next.get(from)
    if (targets === undefined) next.set(from, [to])
    else targets.push(to)
  }
  const seen = new Set(start)
  for (const id of seen) for (const to of next.get(id) ?? []) seen.add(to)
  return seen
}

function checkIds(reading: Reading, phases: readonly PhaseDocument[]): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const phase of phases) {
    if (ids.has(phase.id) && phase.id !== '') {
      reading.reportAt('contract.duplicate_id', [phase, 'id'], `The phase id '${phase.id}' is used twice.`)
    }
    ids.add(phase.id)
  }
  return ids
}

function checkStart(reading: Reading, document: ContractDocument, ids: ReadonlySet<string>): boolean {
  if (ids.has(document.start_node)) return false
  const message = `The start node '${document.start_node}' is not a phase.`
  reading.reportAt(
    'contract.unknown_phase',
    [document, 'start_node'],
    message,
    formatKnownPhases(document.start_node, ids),
  )
  return true
}

function checkEnds(reading: Reading, transition: TransitionDocument, ids: ReadonlySet<string>): boolean {
  let hasUnknown = false
  for (const end of ['from', 'to'] as const) {
    const id = transition[end]
    if (ids.has(id)) continue
    hasUnknown = true
    if (id === '') continue
    const message = `The transition ${end === 'from' ? 'starts in' : 'leads to'} '${id}', which is not a phase.`
    reading.reportAt('contract.unknown_phase', [transition, end], message, formatKnownPhases(id, ids))
  }
  return hasUnknown
}

function checkTwice(reading: Reading, transitions: readonly TransitionDocument[]): void {
  const seen = new Set<string>()
  for (const transition of transitions) {
    const key = JSON.stringify([transition.from, transition.to, transition.when ?? null])
    if (seen.has(key)) {
      const message = `A transition from '${transition.from}' to '${transition.to}' is already defined above.`
      reading.reportAt('contract.duplicate_transition', [transition], message)
    }
    seen.add(key)
  }
}

function formatKnownPhases(typed: string, ids: ReadonlySet<string>): string {
  return `${formatDidYouMean(typed, ids)}Known phases: ${[...ids].join(', ')}.`
}
