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
