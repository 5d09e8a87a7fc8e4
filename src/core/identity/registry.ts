import type { Code } from '../codes.js'
import { evolveSpawns, type Spawn, type SpawnFact } from '../contract/agent-programs.js'
import type { Refusal } from '../task/refusal.js'
import { assertUnreachable } from '../unreachable.js'
import { isKnownAgent } from './agent-names.js'
import {
  type Access,
  type AccessFact,
  dropOperatorAccess,
  EMPTY_ACCESS,
  endSessions,
  evolveAccess,
} from './operator-access.js'

/** Events outside any task: who may act, which contracts are known, which anonymous requests were refused. */
export type RegistryFact =
  | { readonly type: 'operator_added'; readonly name: string; readonly role: string | null; readonly verifier: string }
  | { readonly type: 'operator_revoked'; readonly name: string; readonly reason: string }
  | {
      readonly type: 'agent_registered'
      readonly agentId: string
      readonly instance: string
      readonly capabilities: readonly string[]
      readonly expiresAt: number
    }
  | { readonly type: 'agent_revoked'; readonly agentId: string; readonly reason: string }
  | {
      readonly type: 'contract_registered'
      readonly hash: string
      readonly name: string
      readonly version: string
      readonly origin: string
      /** `none`: no operator trusted it. Absent: an operator did. */
      readonly trust?: 'none'
    }
  | { readonly type: 'agents_paused'; readonly reason: string }
  | { readonly type: 'agents_unpaused'; readonly reason: string }
  | { readonly type: 'secret_rotated'; readonly kid: string; readonly reason: string }
  | { readonly type: 'server_started'; readonly programVersion: string; readonly contractHash: string }
  | { readonly type: 'server_stopped' }
  /** What another node had decided on so far belongs to `by` from now on. */
  | { readonly type: 'node_adopted'; readonly node: string; readonly by: string; readonly reason: string }
  | { readonly type: 'ledger_verified'; readonly success: boolean; readonly events: number; readonly detail: string }
  /** The ledger was made from a backup: later events of the old one are not known here. `backup` is its SHA-256. */
  | { readonly type: 'ledger_restored'; readonly backup: string; readonly madeAt: string; readonly events: number }
  /** Later events and checkpoints are written with new keys; `fingerprint` is the SHA-256 of the new public one. */
  | { readonly type: 'ledger_keys_rotated'; readonly fingerprint: string; readonly reason: string }
  /** A text was erased from these events: their hashes stay, and the seals bind what is left of them. */
  | {
      readonly type: 'data_erased'
      readonly reason: string
      readonly erased: readonly { readonly seq: number; readonly hash: string; readonly seal: string }[]
      /** SHA-256 of stored contents that were removed. */
      readonly contents: readonly string[]
    }
  /** Tasks were moved to a signed file: their events keep hash and envelope, and a tombstone instead of their data. */
  | {
      readonly type: 'tasks_archived'
      readonly archive: string
      readonly sha256: string
      readonly reason: string
      readonly count: number
      /** The first ones. */
      readonly tasks: readonly string[]
      readonly events: number
    }
  | { readonly type: 'ledger_moved'; readonly to: string; readonly events: number }
  | {
      readonly type: 'request_refused'
      readonly code: Code
      readonly detail: string
      readonly method: string
      readonly path: string
      readonly success: false
      readonly taskId: string | null
    }
  /** Recorded before the first event of its own stream, so that no council is lost. */
  | { readonly type: 'coordination_opened'; readonly id: string }
  | { readonly type: 'coordination_closed'; readonly id: string }
  /** Webhook events that could not be delivered: one event, or all of them until the signing secret is set. */
  | { readonly type: 'webhook_failed'; readonly origin: string; readonly seq: number | null; readonly reason: string }
  | { readonly type: 'requests_refused'; readonly count: number; readonly seconds: number }
  | SpawnFact
  | AccessFact

export type RegistryEvent = RegistryFact & { readonly at: number; readonly actor: string }

interface Operator {
  readonly name: string
  readonly role: string | null
  /** SHA-256 of the token: verifies the token without revealing it. */
  readonly verifier: string
  readonly addedAt: number
  readonly revokedAt: number | null
}

export interface Agent {
  readonly id: string
  /** The only valid agent token carries this. */
  readonly instance: string
  readonly capabilities: readonly string[]
  readonly expiresAt: number
  readonly registeredAt: number
  readonly revokedAt: number | null
}

export interface KnownContract {
  readonly hash: string
  readonly name: string
  readonly version: string
  readonly origin: string
  readonly registeredAt: number
  /** An operator trusted it: it may lower the sandbox, name variables and use private addresses. */
  readonly isTrusted: boolean
}

/** The state of the system stream. */
export interface Registry {
  readonly version: number
  readonly operators: ReadonlyMap<string, Operator>
  readonly agents: ReadonlyMap<string, Agent>
  readonly contracts: ReadonlyMap<string, KnownContract>
  readonly paused: string | null
  /** The newest ones, oldest first, with whether they are open. */
  readonly coordinations: ReadonlyMap<string, { readonly openedAt: number; readonly isOpen: boolean }>
  /** Agents that Phaselock started, by their id, oldest first. */
  readonly spawns: ReadonlyMap<string, Spawn>
  /** Sessions, passkeys and passphrases of operators, and agents with a shell of their own. */
  readonly access: Access
}

export const EMPTY_REGISTRY: Registry = {
  version: 0,
  operators: new Map(),
  agents: new Map(),
  contracts: new Map(),
  paused: null,
  coordinations: new Map(),
  spawns: new Map(),
  access: EMPTY_ACCESS,
}

export function evolveRegistry(registry: Registry, event: RegistryEvent): Registry {
  return { ...applyEvent(registry, event), version: registry.version + 1 }
}

function applyEvent(registry: Registry, event: RegistryEvent): Registry {
  switch (event.type) {
    case 'operator_added': {
      const { name, role, verifier } = event
      return {
        ...registry,
        operators: new Map(registry.operators).set(name, { name, role, verifier, addedAt: event.at, revokedAt: null }),
        access: endSessions(registry.access, name),
      }
    }
    case 'operator_revoked': {
      const operator = registry.operators.get(event.name)
      if (operator === undefined) return registry
      return {
        ...registry,
        operators: new Map(registry.operators).set(event.name, { ...operator, revokedAt: event.at }),
        access: dropOperatorAccess(registry.access, event.name),
      }
    }
    case 'agent_registered': {
      const { agentId: id, instance, capabilities, expiresAt } = event
      const agent = { id, instance, capabilities, expiresAt, registeredAt: event.at, revokedAt: null }
      return { ...registry, agents: new Map(registry.agents).set(id, agent) }
    }
    case 'agent_revoked':
      return revokeAgent(registry, event)
    case 'contract_registered': {
      const { hash, name, version, origin } = event
      const known = { hash, name, version, origin, registeredAt: event.at, isTrusted: event.trust !== 'none' }
      return { ...registry, contracts: new Map(registry.contracts).set(hash, known) }
    }
    case 'agents_paused':
      return { ...registry, paused: event.reason }
    case 'agents_unpaused':
      return { ...registry, paused: null }
    case 'coordination_opened':
      return { ...registry, coordinations: addRun(registry.coordinations, event.id, event.at) }
    case 'coordination_closed': {
      const run = registry.coordinations.get(event.id)
      if (run === undefined) return registry
      return { ...registry, coordinations: new Map(registry.coordinations).set(event.id, { ...run, isOpen: false }) }
    }
    case 'agent_spawned':
    case 'agent_started':
    case 'agent_process_lost':
      return { ...registry, spawns: evolveSpawns(registry.spawns, event) }
    case 'agent_ended':
      return { ...revokeAgent(registry, event), spawns: evolveSpawns(registry.spawns, event) }
    case 'session_opened':
    case 'session_ended':
    case 'passkey_added':
    case 'passkey_revoked':
    case 'passphrase_set':
    case 'agent_bound_by_hooks':
    case 'agent_bound':
      return { ...registry, access: evolveAccess(registry.access, event) }
    case 'secret_rotated':
    case 'server_started':
    case 'server_stopped':
    case 'node_adopted':
    case 'ledger_verified':
    case 'ledger_restored':
    case 'ledger_moved':
    case 'data_erased':
    case 'tasks_archived':
    case 'ledger_keys_rotated':
    case 'request_refused':
    case 'requests_refused':
    case 'webhook_failed':
      return registry
    default:
      return assertUnreachable(event)
  }
}

function revokeAgent(registry: Registry, { agentId, at }: { readonly agentId: string; readonly at: number }): Registry {
  const agent = registry.agents.get(agentId)
  if (agent === undefined || agent.revokedAt !== null) return registry
  return { ...registry, agents: new Map(registry.agents).set(agentId, { ...agent, revokedAt: at }) }
}

/** Maximum number of councils listed; older finished ones stay in the ledger. */
const COORDINATIONS_LISTED_MAX = 1000

function addRun(known: Registry['coordinations'], id: string, openedAt: number): Registry['coordinations'] {
  const runs = new Map(known).set(id, { openedAt, isOpen: true })
  const oldest = [...runs].find(([, run]) => !run.isOpen)?.[0]
  if (runs.size > COORDINATIONS_LISTED_MAX && oldest !== undefined) runs.delete(oldest)
  return runs
}

/** `unlessKnown`: the agent must be new. */
export type RegistryCommand = RegistryFact & { readonly unlessKnown?: boolean }

/** A valid event of the registry, or why it is refused. */
export function decideRegistry(
  registry: Registry,
  { unlessKnown = false, ...command }: RegistryCommand,
): readonly RegistryFact[] | Refusal {
  if (unlessKnown && command.type === 'agent_registered' && isKnownAgent(command.agentId, registry))
    return {
      code: 'conflict',
      detail: `An agent ${JSON.stringify(command.agentId)}, or one with a similar name, exists or existed.`,
    }
  if (command.type === 'operator_added') {
    const known = registry.operators.get(command.name)
    if (known !== undefined && known.revokedAt === null && command.name !== FIRST_OPERATOR)
      return { code: 'conflict', detail: `Operator ${JSON.stringify(command.name)} already exists.` }
  }
  if (command.type === 'operator_revoked') {
    const known = registry.operators.get(command.name)
    if (known === undefined || known.revokedAt !== null)
      return { code: 'not_found', detail: `There is no operator ${JSON.stringify(command.name)}.` }
    const others = [...registry.operators.values()].filter((one) => one.revokedAt === null && one.name !== command.name)
    if (others.length === 0)
      return { code: 'conflict', detail: 'The last operator cannot be revoked: nobody could approve anything.' }
  }
  if (command.type === 'agent_revoked') {
    const known = registry.agents.get(command.agentId)
    if (known === undefined || known.revokedAt !== null)
      return { code: 'not_found', detail: `There is no agent ${JSON.stringify(command.agentId)}.` }
  }
  if (command.type === 'agent_spawned') {
    const spawn = registry.spawns.get(command.agentId)
    const agent = registry.agents.get(command.agentId)
    if ((spawn !== undefined && spawn.ended === null) || (agent !== undefined && agent.revokedAt === null))
      return { code: 'conflict', detail: `Agent ${JSON.stringify(command.agentId)} already exists.` }
  }
  if (command.type === 'agent_ended' && registry.spawns.get(command.agentId)?.ended !== null) return []
  if (command.type === 'coordination_opened' && registry.coordinations.get(command.id)?.isOpen === true)
    return { code: 'conflict', detail: `Council ${command.id} already exists.` }
  if (command.type === 'coordination_closed' && registry.coordinations.get(command.id)?.isOpen !== true) return []
  if (command.type === 'contract_registered') {
    const known = registry.contracts.get(command.hash)
    if (known !== undefined && (known.isTrusted || command.trust === 'none')) return []
  }
  if (command.type === 'agent_bound_by_hooks' && registry.access.boundByHooks.has(command.agentId)) return []
  if (command.type === 'session_ended' && !registry.access.sessions.has(command.sessionId))
    return { code: 'not_found', detail: `There is no session ${JSON.stringify(command.sessionId)}.` }
  if (command.type === 'passkey_added' && registry.access.passkeys.has(command.credentialId))
    return { code: 'conflict', detail: 'This passkey is registered already.' }
  if (
    command.type === 'passkey_revoked' &&
    registry.access.passkeys.get(command.credentialId)?.operator !== command.operator
  )
    return { code: 'not_found', detail: `There is no passkey ${JSON.stringify(command.credentialId)} of yours.` }
  if (command.type === 'agents_paused' && registry.paused !== null) return []
  if (command.type === 'agents_unpaused' && registry.paused === null) return []
  return [command]
}

/** The operator whose token is in the state directory. A lost token file is replaced under the same name. */
export const FIRST_OPERATOR = 'admin'
