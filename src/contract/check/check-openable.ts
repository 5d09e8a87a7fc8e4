import type { JsonObject } from '../../core/json.js'
import { counted } from '../../core/text.js'
import type { ContractDocument, GateDocument, PhaseDocument } from '../document.js'
import type { Reading } from '../read/reading.js'
import { RUN_NEEDS } from './check-needs.js'
import { type CheckOwner, checksOfDemand, demandsOf, nameOfCheck, phasesAfterRed } from './demands.js'
import { evidenceRuns, neverGiven, neverVerified } from './never-given.js'
import { type Never, neverHolds, schemasOf } from './never-holds.js'
import { findConflict } from './schema-conflict.js'

/** Every gate can open and every phase be left, as far as the contract alone decides it. What only warns opens anyway. */
export function checkOpenable(reading: Reading, document: ContractDocument): void {
  const afterRed = phasesAfterRed(document)
  for (const phase of document.phases) {
    const report = reporter(reading, phase)
    for (const { owner, gate } of blockingChecks(phase)) {
      const never = neverHolds({ document, phase, afterRed }, owner)
      if (never !== null) report(gate, owner, never)
    }
    checkArtifacts(document, phase, report)
    for (const { made, ...never } of neverGiven(document, phase)) report(null, made, never)
    const unverified = neverVerified(phase)
    if (unverified !== null) report(null, phase, unverified)
    const undecided = neverVoted(phase)
    if (undecided !== null) report(null, undecided.consensus, undecided)
    checkTogether(document, phase, report)
  }
}

type Reporter = (gate: GateDocument | null, made: object, never: Never) => void

function reporter(reading: Reading, phase: PhaseDocument): Reporter {
  return (gate, made, { key, why, remedy }) => {
    const subject =
      gate === null
        ? `The phase '${phase.id}' can never be completed`
        : `The gate '${gate.id}' of phase '${phase.id}' can never open`
    const message = `${subject}: ${why}.`
    reading.reportAt('contract.gate_cannot_open', [made, key], message, remedy)
  }
}

function blockingChecks(phase: PhaseDocument): readonly { owner: CheckOwner; gate: GateDocument | null }[] {
  const ofArtifacts = phase.required_artifacts.flatMap((artifact) =>
    artifact.validation.map((owner) => ({ owner, gate: null })),
  )
  const ofGates = phase.gates.flatMap((gate) => gate.blockers.map((owner) => ({ owner, gate })))
  return [...ofArtifacts, ...ofGates].filter(({ owner }) => owner.severity === 'blocking')
}

function checkArtifacts(document: ContractDocument, phase: PhaseDocument, report: Reporter): void {
  for (const artifact of phase.required_artifacts) {
    const conflict = findConflict(schemasOf(document, phase, artifact.type))
    if (conflict === null) continue
    const why = `nothing fits the schema of the required artifact ${artifact.type} (${conflict})`
    report(null, artifact, { key: 'schema', why, remedy: `Correct the schema of ${artifact.type}.` })
  }
}

// Without votes for themselves the author of the winning answer cannot vote for it.
function neverVoted({ consensus }: PhaseDocument): (Never & { readonly consensus: object }) | null {
  if (consensus === undefined || consensus.skip_voting === true) return null
  const voters = consensus.agents.length
  const most = consensus.allow_self_vote === false ? voters - 1 : voters
  const needed = consensus.quorum ?? 1
  if (voters === 0 || needed <= most) return null
  const key = consensus.quorum === undefined ? 'allow_self_vote' : 'quorum'
  const self = consensus.allow_self_vote === false ? ' without votes for themselves' : ''
  const why = `the winner of the consensus needs ${counted(needed, 'vote')}, and ${counted(voters, 'agent')} can give it ${most}${self}`
  const remedy =
    most < 1 ? 'Add agents, or remove allow_self_vote: false.' : `Use a quorum of at most ${most}, or add agents.`
  return { consensus, key, why, remedy }
}

/** Something that a way out of the phase demands of a run or of a file. */
interface Demanded {
  readonly gate: GateDocument | null
  readonly made: object
  readonly key: string
  readonly name: string
  /** What it speaks of: two demands that speak of different things cannot contradict each other. */
  readonly of: string
  readonly needs: JsonObject
}

/** What each way out asks for at once must be possible at once. */
function checkTogether(document: ContractDocument, phase: PhaseDocument, report: Reporter): void {
  const reported = new Set<object>()
  for (const demand of demandsOf(document, phase)) {
    const checks = checksOfDemand(phase, demand).filter((owner) => owner.severity === 'blocking')
    const gateOf = (owner: CheckOwner) =>
      demand.gates.find((gate) => gate.blockers.some((one) => one === owner)) ?? null
    const demanded = [
      ...(demand.isFull ? evidenceRuns(document, phase).map((one) => ({ gate: null, ...one })) : []),
      ...checks.flatMap((owner) => runDemanded(owner, gateOf(owner))),
    ]
    const found = firstContradiction(demanded) ?? fileContradiction(checks, gateOf)
    if (found === null || reported.has(found.later.made)) continue
    reported.add(found.later.made)
    const { later, why } = found
    const remedy = 'Remove one of the two, or move it to the gate of another phase.'
    report(later.gate, later.made, { key: later.key, why, remedy })
  }
}

function runDemanded(owner: CheckOwner, gate: GateDocument | null): readonly Demanded[] {
  const check = nameOfCheck(owner)
  const needs = RUN_NEEDS.get(check)
  const of = check === 'command_succeeds' ? owner.command : check === 'coverage_threshold_met' ? 'coverage' : 'tests'
  if (needs === undefined || of === undefined) return []
  return [{ gate, made: owner, key: 'rule' in owner ? 'rule' : 'check', name: check, of, needs }]
}

interface Contradiction {
  readonly later: Pick<Demanded, 'gate' | 'made' | 'key'>
  readonly why: string
}

function firstContradiction(demanded: readonly Demanded[]): Contradiction | null {
  for (const [index, later] of demanded.entries()) {
    const earlier = demanded
      .slice(0, index)
      .find((one) => one.of === later.of && findConflict([one.needs, later.needs]) !== null)
    if (earlier === undefined) continue
    const why = `${earlier.name} and ${later.name} cannot both hold for one run of ${later.of}`
    return { later, why }
  }
  return null
}

// A path is a file or a folder.
function fileContradiction(
  checks: readonly CheckOwner[],
  gateOf: (owner: CheckOwner) => GateDocument | null,
): Contradiction | null {
  const files = checks.flatMap((owner) =>
    owner.path === undefined || !FILE_CHECKS.has(nameOfCheck(owner)) ? [] : [{ owner, path: owner.path }],
  )
  for (const { owner, path } of files) {
    const inner = files.find((one) => one.path.startsWith(`${path}/`))
    if (inner === undefined) continue
    const why = `${path} must be a file, and ${inner.path} a file below it`
    return { later: { gate: gateOf(owner), made: owner, key: 'path' }, why }
  }
  return null
}

const FILE_CHECKS: ReadonlySet<string> = new Set(['file_exists', 'json_valid'])
