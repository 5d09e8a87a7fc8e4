export interface PoolLimits {
  /** How long an unused server is kept. */
  readonly idleMs: number
  /** Time limit of a start. */
  readonly startMs: number
  readonly serversMax: number
  /** Maximum number of concurrent calls per server. */
  readonly callsMax: number
}
