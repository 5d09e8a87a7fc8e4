import { runInSpan } from '../../base/spans.js'
import { type Store, StoreUnavailable } from '../../store/store.js'

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** How the store takes appends, counted since the start. */
export class AppendStats {
  /** Appends that wait for their answer. */
  waiting = 0
  failed = 0
  /** The newest append failed, because the store was not available. */
  isFailing = false
  readonly latency = { bounds: SECONDS, buckets: SECONDS.map(() => 0), sum: 0, count: 0 }

  take(seconds: number): void {
    const { buckets, bounds } = this.latency
    this.latency.count += 1
    this.latency.sum += seconds
    for (const [index, bound] of bounds.entries()) if (seconds <= bound) buckets[index] = (buckets[index] ?? 0) + 1
  }
}

const observed = new WeakMap<Store, AppendStats>()

/** Measures every append of a store, and puts it into the span of the call that makes it. */
export function observeAppends(store: Store): AppendStats {
  const known = observed.get(store)
  if (known !== undefined) return known
  const stats = new AppendStats()
  observed.set(store, stats)
  const append = store.append.bind(store)
  store.append = async (asked) => {
    const startedAt = performance.now()
    stats.waiting += 1
    try {
      const attributes = { 'phaselock.events': asked.events.length }
      const result = await runInSpan(
        'append',
        { attributes, onResult: ({ ok }) => ({ 'phaselock.written': ok }) },
        () => append(asked),
      )
      stats.isFailing = false
      return result
    } catch (error) {
      stats.failed += 1
      if (error instanceof StoreUnavailable) stats.isFailing = true
      throw error
    } finally {
      stats.waiting -= 1
      stats.take((performance.now() - startedAt) / 1000)
    }
  }
  return stats
}
