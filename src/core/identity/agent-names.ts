import type { Contract } from '../contract/contract.js'
import { listNeededReviews } from '../reviews/consensus-plan.js'
import type { Registry } from './registry.js'

/** Words of the ledger and of `approvers` that stand for people, machines or Phaselock itself. */
const WORDS = ['human', 'orchestrator', 'admin', 'system', 'operator', 'phaselock', 'ci', 'stranger']

/** A name without what people overlook: case, separators, width and invisible characters. */
export function foldName(name: string): string {
  const folded = name.normalize('NFKC').toLowerCase()
  const letters = folded.replace(/[^\p{L}\p{N}]/gu, '')
  return letters === '' ? folded : letters
}

/** Those whom the contract names in approvals, reviews and votes. */
export function listNamesInContract(contract: Contract): readonly string[] {
  const phases = [...contract.phases.values()]
  return phases.flatMap((phase) => [
    ...phase.gates.flatMap((gate) => gate.approvers),
    ...(listNeededReviews(phase) ?? []),
    ...(phase.autoSpawn ?? []).flatMap((spawn) => spawn.names),
  ])
}

/** Why no agent may have this name; null when one may. A registered agent keeps its name. (REQ-ROLES-7) */
export function findReservedNameReason(id: string, registry: Registry, contracts: readonly Contract[]): string | null {
  if (registry.agents.get(id)?.revokedAt === null) return null
  const folded = foldName(id)
  const isSame = (name: string | null): boolean => name !== null && foldName(name) === folded
  if (WORDS.some(isSame)) return 'a word of approvals and of the ledger'
  for (const { name, role } of registry.operators.values())
    if (isSame(name) || isSame(role)) return `the ${isSame(name) ? 'operator' : 'role'} ${isSame(name) ? name : role}`
  const contract = contracts.find((one) => listNamesInContract(one).some(isSame))
  return contract === undefined ? null : `an approver, reviewer or voter of the contract ${contract.name}`
}

/** Whether an agent was ever known under this name, or under one that looks like it. */
export function isKnownAgent(id: string, { agents, spawns }: Registry): boolean {
  const folded = foldName(id)
  return [...agents.keys(), ...spawns.keys()].some((known) => foldName(known) === folded)
}
