import type { Principal } from '../app/identity/identity.js'
import type { DoorSocket } from '../gateway/gateway-ports.js'

/** Where agents behind the wall are let in: the sockets of the server. */
export interface Doors {
  /** The folder of the sockets: for those that lead elsewhere, too. */
  readonly dir: string
  open(options: {
    readonly agentId: string
    readonly allowed?: (principal: Exclude<Principal, { kind: 'operator' }>) => boolean
  }): Promise<DoorSocket>
  /** From now on the agent is answered through its sockets alone. Undone by what is returned. */
  bind(agentId: string): () => void
}

export interface SpawnLimits {
  /** To end by itself once its work is done. */
  readonly graceMs: number
  /** How long a claim that was refused for now waits for the next try. */
  readonly retryMs: number
  /** How often a life looks at its task when nobody rang. */
  readonly lookMs: number
  /** The longest that one process runs. */
  readonly lifeMs: number
}

export const SPAWN_LIMITS: SpawnLimits = {
  graceMs: 10_000,
  retryMs: 1_000,
  lookMs: 2_000,
  lifeMs: 24 * 3_600_000,
}

/** Agents that are alive at the same time. */
export const LIVES_MAX = 64
