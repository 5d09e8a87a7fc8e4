import { CHECKS_NOT_ENFORCED } from '../core/contract/contract.js'
import { listChecks } from './check/check-gates.js'
import { haveEnvironment } from './compile/compile-consensus.js'
import type { ContractDocument, PhaseDocument } from './document.js'

/** One thing that this version understands and cannot enforce; `made` and `key` say where it stands in the document. */
export interface UnenforcedFeature {
  readonly path: string
  readonly feature: string
  readonly made: object
  readonly key: string | undefined
}

/** Everything in a canonical document that this version would not hold anybody to. */
export function findUnenforced(document: ContractDocument): UnenforcedFeature[] {
  return [...listInRoot(document), ...document.phases.flatMap(listInPhase)]
}

function listInRoot(document: ContractDocument): UnenforcedFeature[] {
  const found: UnenforcedFeature[] = []
  const add = (made: object, path: string, feature: string): void => {
    found.push({ path, feature, made, key: path.slice(path.lastIndexOf('.') + 1) })
  }
  const votes = document.phases.flatMap((phase) => (phase.consensus === undefined ? [] : [phase.consensus]))
  if (haveEnvironment(document.agents ?? {}, votes)) add(document, 'agents', 'env of agents that vote')
  return found
}

function listInPhase(phase: PhaseDocument): UnenforcedFeature[] {
  const base = `phases.${phase.id}`
  return [...listInCheckpoint(phase, base), ...listInChecks(phase, base)]
}

function listInCheckpoint(phase: PhaseDocument, base: string): UnenforcedFeature[] {
  const { checkpoint } = phase
  if (checkpoint === undefined) return []
  return checkpoint.source === undefined
    ? []
    : [{ path: `${base}.checkpoint.source`, feature: 'checkpoint.source', made: checkpoint, key: 'source' }]
}

function listInChecks(phase: PhaseDocument, base: string): UnenforcedFeature[] {
  return listChecks(phase).flatMap(({ owner, check }) => {
    const gate = phase.gates.find((candidate) => candidate.blockers.some((blocker) => blocker === owner))
    const artifact = phase.required_artifacts.find((candidate) => candidate.validation.some((rule) => rule === owner))
    const path =
      gate === undefined
        ? `${base}.required_artifacts.${artifact?.type ?? ''}.${check}`
        : `${base}.gates.${gate.id}.${check}`
    const name = 'rule' in owner ? 'rule' : 'check'
    return CHECKS_NOT_ENFORCED.has(check) ? [{ path, feature: `check ${check}`, made: owner, key: name }] : []
  })
}
