import type { Principal } from '../app/identity/identity.js'
import type { DoorSocket } from '../gateway/gateway-ports.js'

/** Opens the sockets of sandboxed agents. */
export interface Doors {
  /** The folder of the sockets, including those to other services. */
  readonly dir: string
  open(options: {
    readonly agentId: string
    readonly allowed?: (principal: Exclude<Principal, { kind: 'operator' }>) => boolean
  }): Promise<DoorSocket>
  /** From now on the agent is answered only through its sockets. The returned function undoes this. */
  bind(agentId: string): () => void
}

export interface SpawnLimits {
  /** Time to end by itself after its work is done. */
  readonly graceMs: number
  /** How long a temporarily refused claim waits for the next try. */
  readonly retryMs: number
  /** How often a life checks its task without a notification. */
  readonly lookMs: number
  /** Time limit of one process. */
  readonly lifeMs: number
}

export const SPAWN_LIMITS: SpawnLimits = {
  graceMs: 10_000,
  retryMs: 1_000,
  lookMs: 2_000,
  lifeMs: 24 * 3_600_000,
}

/** Maximum number of agents at the same time. */
export const LIVES_MAX = 64
