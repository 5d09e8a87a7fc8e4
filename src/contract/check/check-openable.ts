import type { JsonObject } from '../../core/json.js'
import { formatCount } from '../../core/text.js'
import type { ContractDocument, GateDocument, PhaseDocument } from '../document.js'
import type { Reading } from '../read/reading.js'
import { RUN_NEEDS } from './check-needs.js'
import { type CheckOwner, getCheckName, listChecksOfDemand, listDemands, listPhasesAfterRed } from './demands.js'
import { findNeverVerified, listEvidenceRuns, listNeverGiven } from './never-given.js'
import { findNeverHolds, listSchemas, type NeverHolds } from './never-holds.js'
import { findConflict } from './schema-conflict.js'

/** Every gate can open and every phase can be left, as far as the contract alone decides it. Warnings never block. */
export function checkOpenable(reading: Reading, document: ContractDocument): void {
  const afterRed = listPhasesAfterRed(document)
  for (const phase of document.phases) {
    const report = makeReporter(reading, phase)
    for (const { owner, gate } of listBlockingChecks(phase)) {
      const never = findNeverHolds({ document, phase, afterRed }, owner)
      if (never !== null) report(gate, owner, never)
    }
    checkArtifacts(document, phase, report)
    for (const { made, ...never } of listNeverGiven(document, phase)) report(null, made, never)
    const unverified = findNeverVerified(phase)
    if (unverified !== null) report(null, phase, unverified)
    const undecided = findNeverVoted(phase)
    if (undecided !== null) report(null, undecided.consensus, undecided)
    checkTogether(document, phase, report)
  }
}

type Reporter = (gate: GateDocument | null, made: object, never: NeverHolds) => void

function makeReporter(reading: Reading, phase: PhaseDocument): Reporter {
  return (gate, made, { key, why, remedy }) => {
    const subject =
      gate === null
        ? `The phase '${phase.id}' can never be completed`
        : `The gate '${gate.id}' of phase '${phase.id}' can never open`
    const message = `${subject}: ${why}.`
    reading.reportAt('contract.gate_cannot_open', [made, key], message, remedy)
  }
}

function listBlockingChecks(phase: PhaseDocument): readonly { owner: CheckOwner; gate: GateDocument | null }[] {
  const ofArtifacts = phase.required_artifacts.flatMap((artifact) =>
    artifact.validation.map((owner) => ({ owner, gate: null })),
  )
  const ofGates = phase.gates.flatMap((gate) => gate.blockers.map((owner) => ({ owner, gate })))
  // A reviewer who is asked for is waited for, whatever the severity of the check that names them.
  return [...ofArtifacts, ...ofGates].filter(
    ({ owner }) => owner.severity === 'blocking' || (owner.required_reviews ?? []).length > 0,
  )
}

function checkArtifacts(document: ContractDocument, phase: PhaseDocument, report: Reporter): void {
  for (const artifact of phase.required_artifacts) {
    const conflict = findConflict(listSchemas(document, phase, artifact.type))
    if (conflict === null) continue
    const why = `nothing fits the schema of the required artifact ${artifact.type} (${conflict})`
    report(null, artifact, { key: 'schema', why, remedy: `Correct the schema of ${artifact.type}.` })
  }
}

// Where agents may not vote for themselves, the author of the winning answer has no vote for it.
function findNeverVoted({ consensus }: PhaseDocument): (NeverHolds & { readonly consensus: object }) | null {
  if (consensus === undefined || consensus.skip_voting === true) return null
  const voters = consensus.agents.length
  const most = consensus.allow_self_vote === false ? voters - 1 : voters
  const needed = consensus.quorum ?? 1
  if (voters === 0 || needed <= most) return null
  const key = consensus.quorum === undefined ? 'allow_self_vote' : 'quorum'
  const self = consensus.allow_self_vote === false ? ' without votes for themselves' : ''
  const why = `the winner of the consensus needs ${formatCount(needed, 'vote')}, and ${formatCount(voters, 'agent')} can give it ${most}${self}`
  const remedy =
    most < 1 ? 'Add agents, or remove allow_self_vote: false.' : `Use a quorum of at most ${most}, or add agents.`
  return { consensus, key, why, remedy }
}

/** A requirement of a way out of the phase on a run or a file. */
interface DemandedItem {
  readonly gate: GateDocument | null
  readonly made: object
  readonly key: string
  readonly name: string
  /** Its subject: two requirements on different subjects cannot contradict each other. */
  readonly of: string
  readonly needs: JsonObject
}

/** All requirements of a way out must be possible at the same time. */
function checkTogether(document: ContractDocument, phase: PhaseDocument, report: Reporter): void {
  const reported = new Set<object>()
  for (const demand of listDemands(document, phase)) {
    const checks = listChecksOfDemand(phase, demand).filter((owner) => owner.severity === 'blocking')
    const gateOf = (owner: CheckOwner) =>
      demand.gates.find((gate) => gate.blockers.some((blocker) => blocker === owner)) ?? null
    const demanded = [
      ...(demand.isFull ? listEvidenceRuns(document, phase).map((run) => ({ gate: null, ...run })) : []),
      ...checks.flatMap((owner) => runDemanded(owner, gateOf(owner))),
    ]
    const found = findContradiction(demanded) ?? findFileContradiction(checks, gateOf)
    if (found === null || reported.has(found.later.made)) continue
    reported.add(found.later.made)
    const { later, why } = found
    const remedy = 'Remove one of the two, or move it to the gate of another phase.'
    report(later.gate, later.made, { key: later.key, why, remedy })
  }
}

function runDemanded(owner: CheckOwner, gate: GateDocument | null): readonly DemandedItem[] {
  const check = getCheckName(owner)
  const needs = RUN_NEEDS.get(check)
  const of = check === 'command_succeeds' ? owner.command : check === 'coverage_threshold_met' ? 'coverage' : 'tests'
  if (needs === undefined || of === undefined) return []
  return [{ gate, made: owner, key: 'rule' in owner ? 'rule' : 'check', name: check, of, needs }]
}

interface Contradiction {
  readonly later: Pick<DemandedItem, 'gate' | 'made' | 'key'>
  readonly why: string
}

function findContradiction(demanded: readonly DemandedItem[]): Contradiction | null {
  for (const [index, later] of demanded.entries()) {
    const earlier = demanded
      .slice(0, index)
      .find((item) => item.of === later.of && findConflict([item.needs, later.needs]) !== null)
    if (earlier === undefined) continue
    const why = `${earlier.name} and ${later.name} cannot both hold for one run of ${later.of}`
    return { later, why }
  }
  return null
}

// A path is a file or a folder.
function findFileContradiction(
  checks: readonly CheckOwner[],
  gateOf: (owner: CheckOwner) => GateDocument | null,
): Contradiction | null {
  const files = checks.flatMap((owner) =>
    owner.path === undefined || !FILE_CHECKS.has(getCheckName(owner)) ? [] : [{ owner, path: owner.path }],
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
