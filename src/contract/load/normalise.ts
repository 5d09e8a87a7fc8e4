import { listPhasesAfterRed } from '../check/demands.js'
import type { BlockerDocument, ContractDocument, GateDocument, PhaseDocument, TransitionDocument } from '../document.js'
import { readSharedGate } from '../read/read-gates.js'
import type { Reading } from '../read/reading.js'

const TESTS_UNCHANGED_MESSAGE = 'Tests must stay as they were at RED'

/** Without `transitions`, each phase leads to the next one of the list. */
export function makeLinearTransitions(reading: Reading, phases: readonly PhaseDocument[]): TransitionDocument[] {
  return phases.slice(1).map((phase, index) => {
    const transition: TransitionDocument = { from: phases[index]?.id ?? '', to: phase.id }
    const origin = reading.findOrigin(phase)
    return origin === undefined ? transition : reading.made(transition, origin)
  })
}

/** In `nodes:` files `done` exists without being written, and `restart_cycle` leads back to the start. */
export function resolveNodeTargets(
  reading: Reading,
  phases: PhaseDocument[],
  transitions: readonly TransitionDocument[] | null,
  start: string,
): void {
  const ids = new Set(phases.map((phase) => phase.id))
  for (const transition of transitions ?? []) {
    if (transition.to === 'restart_cycle' && !ids.has('restart_cycle')) transition.to = start
    if (transition.to !== 'done' || ids.has('done')) continue
    ids.add('done')
    const origin = reading.findOrigin(transition)
    const done = makeDonePhase()
    phases.push(origin === undefined ? done : reading.made(done, origin))
  }
}

function makeDonePhase(): PhaseDocument {
  return {
    id: 'done',
    name: 'done',
    description: '',
    prompt: '',
    allowed_tools: [],
    forbidden_tools: [],
    tool_constraints: {},
    required_artifacts: [],
    gates: [],
    tasks_in_order: false,
    min_verified: 0,
  }
}

/** A gate of the top-level map belongs to each phase whose transition names it. */
export function placeSharedGates(reading: Reading, document: Pick<ContractDocument, 'phases' | 'transitions'>): void {
  const { shared } = reading.gates
  if (shared === null) return
  const used = new Set<string>()
  for (const phase of document.phases) for (const gate of phase.gates) used.add(gate.id)
  for (const transition of document.transitions) {
    const name = transition.gate
    const phase = document.phases.find((candidate) => candidate.id === transition.from)
    if (name === undefined || !shared.entries.has(name)) continue
    used.add(name)
    if (phase === undefined || phase.gates.some((gate) => gate.id === name)) continue
    const gate = readSharedGate(reading, name, shared)
    if (gate !== null) phase.gates.push(gate)
  }
  for (const [name, entry] of shared.entries) {
    if (used.has(name)) continue
    const message = `No transition and no phase names the gate '${name}'.`
    reading.report({ code: 'contract.unused_gate', at: entry.keyAt, message })
  }
}

/**
 * A contract with a RED and a GREEN gate pins the tests between them; before RED no tests are recorded.
 * (REQ-CONTRACT-17)
 */
export function addTestsUnchanged(reading: Reading, document: ContractDocument): void {
  const isRed = (gate: GateDocument): boolean => hasCheck(gate, 'tests_are_failing')
  if (document.tests.allow_changes || !document.phases.some((phase) => phase.gates.some(isRed))) return
  const afterRed = listPhasesAfterRed(document)
  for (const gate of document.phases.flatMap((phase) => (afterRed.has(phase.id) ? phase.gates : []))) {
    if (!hasCheck(gate, 'all_tests_pass') || hasCheck(gate, 'tests_unchanged')) continue
    const blocker: BlockerDocument = {
      check: 'tests_unchanged',
      severity: 'blocking',
      message: TESTS_UNCHANGED_MESSAGE,
    }
    const origin = reading.findOrigin(gate)
    gate.blockers.push(origin === undefined ? blocker : reading.made(blocker, origin))
  }
}

function hasCheck(gate: GateDocument, check: BlockerDocument['check']): boolean {
  return gate.blockers.some((blocker) => blocker.check === check)
}
