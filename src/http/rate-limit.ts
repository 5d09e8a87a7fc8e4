const BUCKETS_MAX = 10_000
const BURST_SECONDS = 5

interface Bucket {
  tokens: number
  at: number
}

/** A token bucket per caller: a steady rate, and a short burst on top. */
export class RateLimit {
  readonly #buckets = new Map<string, Bucket>()

  constructor(
    private readonly perSecond: number,
    private readonly now: () => number,
  ) {}

  /** 0 when the request may proceed, else the seconds to wait. */
  take(caller: string): number {
    const now = this.now()
    const capacity = this.perSecond * BURST_SECONDS
    const bucket = this.#buckets.get(caller) ?? { tokens: capacity, at: now }
    // A clock that goes back adds no tokens.
    bucket.tokens = Math.min(capacity, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * this.perSecond)
    bucket.at = now
    if (!this.#buckets.has(caller)) this.#keep(caller, bucket)
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / this.perSecond))
    bucket.tokens -= 1
    return 0
  }

  #keep(caller: string, bucket: Bucket): void {
    if (this.#buckets.size >= BUCKETS_MAX) this.#buckets.delete(this.#buckets.keys().next().value ?? '')
    this.#buckets.set(caller, bucket)
  }
}
