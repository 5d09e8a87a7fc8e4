import { describe, expect, it } from 'vitest'
import type { TakenUsage } from '../../src/gateway/usage-book.js'
import { Counting } from '../../src/spawn/metered-relay.js'

const taken = (at: number): TakenUsage => ({
  ...{ id: `answer-${at}`, model: null, beganAt: at },
  ...{ input: at, output: 1, cacheRead: 2, cacheWrite: 3 },
})

describe('answers that end faster than they are recorded', () => {
  it('[REQ-METER-5] are recorded in order, each once, and beyond a bound none is lost', async () => {
    const recorded: TakenUsage[] = []
    let go: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    const counting = new Counting(async (all) => {
      await gate
      recorded.push(...all)
    })
    for (let at = 0; at < 2500; at += 1) counting.add(taken(at))
    go()
    await counting.waitUntilSettled()
    // The first is recorded at once; the others wait, and there is room for so many.
    expect(recorded).toHaveLength(1001)
    expect(recorded.map(({ id }) => id)).toEqual(Array.from({ length: 1001 }, (_, at) => `answer-${at}`))
    const sum = (name: 'input' | 'output' | 'cacheRead' | 'cacheWrite'): number =>
      recorded.reduce((total, one) => total + one[name], 0)
    expect([sum('input'), sum('output'), sum('cacheRead'), sum('cacheWrite')]).toEqual([3_123_750, 2500, 5000, 7500])
    counting.add(taken(7))
    await counting.waitUntilSettled()
    expect(recorded).toHaveLength(1002)
  })
})
