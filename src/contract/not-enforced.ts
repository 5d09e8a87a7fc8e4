import { CHECKS_NOT_ENFORCED } from '../core/contract/contract.js'
import { listChecks } from './check/check-gates.js'
import { haveEnvironment } from './compile/compile-consensus.js'
import type { ContractDocument, PhaseDocument } from './document.js'

/** One setting that this version understands and cannot enforce; `made` and `key` give its place in the document. */
interface UnenforcedFeature {
  readonly path: string
  readonly feature: string
  readonly made: object
  readonly key: string
}

/** Everything in a canonical document that this version does not enforce. */
export function findUnenforced(document: ContractDocument): UnenforcedFeature[] {
  return [...listInRoot(document), ...document.phases.flatMap(listInPhase)]
}

function listInRoot(document: ContractDocument): UnenforcedFeature[] {
  const votes = document.phases.flatMap((phase) => phase.consensus ?? [])
  if (!haveEnvironment(document.agents ?? {}, votes)) return []
  return [{ path: 'agents', feature: 'env of agents that vote', made: document, key: 'agents' }]
}

function listInPhase(phase: PhaseDocument): UnenforcedFeature[] {
  const base = `phases.${phase.id}`
  const { checkpoint } = phase
  const source = { path: `${base}.checkpoint.source`, feature: 'checkpoint.source', key: 'source' }
  return [...(checkpoint?.source === undefined ? [] : [{ ...source, made: checkpoint }]), ...listInChecks(phase, base)]
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
