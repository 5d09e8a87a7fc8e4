import type { Contract } from '../contract/contract.js'
import { listNeededReviews } from '../reviews/consensus-plan.js'

/** Reserved words of the ledger and of `approvers` for people, machines or Phaselock itself. */
const WORDS = ['human', 'orchestrator', 'admin', 'system', 'operator', 'phaselock', 'ci', 'stranger']

interface KnownAgents {
  readonly agents: ReadonlyMap<string, { readonly revokedAt: number | null }>
  readonly spawns: ReadonlyMap<string, unknown>
}

interface KnownNames extends KnownAgents {
  readonly operators: ReadonlyMap<string, { readonly name: string; readonly role: string | null }>
}

/** A name without differences that people overlook: case, separators, width and invisible characters. */
function foldName(name: string): string {
  const folded = name.normalize('NFKC').toLowerCase()
  const letters = folded.replace(/[^\p{L}\p{N}]/gu, '')
  return letters === '' ? folded : letters
}

/** Names that the contract uses in approvals, reviews and votes. */
function listNamesInContract(contract: Contract): readonly string[] {
  const phases = [...contract.phases.values()]
  return phases.flatMap((phase) => [
    ...phase.gates.flatMap((gate) => gate.approvers),
    ...(listNeededReviews(phase) ?? []),
    ...(phase.autoSpawn ?? []).flatMap((spawn) => spawn.names),
  ])
}

/** Why no agent may have this name; null when one may. A registered agent keeps its name. (REQ-ROLES-7) */
export function findReservedNameReason(
  id: string,
  registry: KnownNames,
  contracts: readonly Contract[],
): string | null {
  if (registry.agents.get(id)?.revokedAt === null) return null
  const folded = foldName(id)
  const isSame = (name: string | null): boolean => name !== null && foldName(name) === folded
  if (WORDS.some(isSame)) return 'a name used in approvals and in the ledger'
  for (const { name, role } of registry.operators.values())
    if (isSame(name) || isSame(role)) return `the ${isSame(name) ? 'operator' : 'role'} ${isSame(name) ? name : role}`
  const contract = contracts.find((one) => listNamesInContract(one).some(isSame))
  return contract === undefined ? null : `an approver, reviewer or voter of the contract ${contract.name}`
}

/** Whether an agent was ever known under this name, or under one that looks like it. */
export function isKnownAgent(id: string, { agents, spawns }: KnownAgents): boolean {
  const folded = foldName(id)
  return [...agents.keys(), ...spawns.keys()].some((known) => foldName(known) === folded)
}
