import type { Site } from './types.js'

/** The sites that rules know, and of the others those that are in none of them. */
export function* joinSites(ruled: Iterable<Site>, others: Iterable<Site>): Generator<Site> {
  const starts: number[] = []
  /** The furthest end of the sites up to each start. */
  const ends: number[] = []
  for (const site of ruled) {
    if (!('left' in site.turn) || site.turn.left !== 'asserts_nothing') {
      starts.push(site.start)
      ends.push(Math.max(ends.at(-1) ?? 0, site.end))
    }
    yield site
  }
  for (const site of others) {
    // One that asserts nothing is a call like any other: `expect.any(String)`.
    if ('left' in site.turn && site.turn.left === 'asserts_nothing') continue
    const index = countUpTo(starts, site.start) - 1
    if ((ends[index] ?? 0) <= site.start) yield site
  }
}

/** How many of these numbers, which only grow, are not larger. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low
}
