import { describe, expect, it } from 'vitest'
import type { Facts } from '../../../src/core/rules/facts.js'
import { addCommand, addUsage, NO_FACTS, sumFacts } from '../../../src/core/rules/facts.js'
import { listValues, type makeLayers, NO_LAYERS, read, write } from '../../../src/core/rules/layered-map.js'
import { FACTS_MAX, listFacts } from '../../../src/core/rules/log.js'
import { cpuMs } from '../../cpu-time.js'
import { ENTERED, evaluate, filled, matches, rule, usage } from './visit.js'

const FIFTY_THOUSAND = 50_000

describe('very many facts', () => {
  it('[REQ-RULE-14] at most fifty thousand facts are kept, the oldest go first, and all are in the totals', () => {
    const facts = filled(FIFTY_THOUSAND, (index) => (index < 3 ? 'first' : `x${index % 1000}`))
    expect(FACTS_MAX).toBe(FIFTY_THOUSAND)
    expect(listFacts(facts.commands)).toHaveLength(FIFTY_THOUSAND)
    const rules = ['^first$', '^x1$'].map((pattern, index) =>
      rule({ type: 'repeated_command', pattern, threshold: 1, window: 600, shadow: true }, `CODE[${index}]`),
    )
    const asked: string[] = []
    const counting = (pattern: string, text: string) => {
      asked.push(text)
      return matches(pattern, text)
    }
    const countsOf = (one: Facts) =>
      evaluate(rules, one, { matches: counting }).shadowed.map((found) => found.metrics_snapshot.count)
    expect(countsOf(facts)).toEqual([3, 49])
    const once = asked.length
    const more = addCommand(facts, { at: ENTERED + FIFTY_THOUSAND, command: 'x1', mark: 0 })
    expect(countsOf(more)).toEqual([46])
    expect(asked).toHaveLength(once)
    const kept = listFacts(more.commands)
    expect(kept).toHaveLength(45_001)
    expect(more.commands.kept).toBe(45_001)
    expect(kept[0]?.at).toBe(ENTERED + 5000)
    expect(sumFacts(more).commands).toBe(50_001)
    const next = addCommand(more, { at: ENTERED + FIFTY_THOUSAND + 1, command: 'x1', mark: 0 })
    expect(listFacts(next.commands).at(-1)?.at).toBe(ENTERED + FIFTY_THOUSAND + 1)
    expect(countsOf(next)).toEqual([47])
  })

  it('[REQ-RULE-14] very many messages stay bounded, and what they used still counts', () => {
    let facts = NO_FACTS
    for (let index = 0; index < 60_000; index += 1) {
      facts = addUsage(facts, usage({ id: `m${index}`, input: 1, output: 1 }))
      if (index === 10_000) expect(sumFacts(addUsage(facts, usage({ id: 'm0', input: 1 })))).toEqual(sumFacts(facts))
    }
    expect(sumFacts(facts).tokens).toMatchObject({ input: 60_000, output: 60_000 })
    const known = facts.usage.records.reduce((sum, layer) => sum + layer.size, 0)
    expect(known).toBeLessThanOrEqual(50_000)
    expect(facts.usage.kept).toBe(known)
    const again = addUsage(facts, usage({ id: 'm59999', input: 1, output: 1 }))
    expect(sumFacts(again)).toEqual(sumFacts(facts))
  })
})

describe('the cost of an evaluation', () => {
  it('[REQ-RULE-18] does not grow with the number of facts', () => {
    const rules = [{}, { pattern: 'x' }, { pattern: 'y' }, { unless_progress: true }].map((one, index) =>
      rule({ type: 'repeated_command', threshold: 100_000 + index, window: 600, ...one }, `CODE[${index}]`),
    )
    const begun = cpuMs()
    let facts = NO_FACTS
    for (let index = 0; index < 20_000; index += 1) {
      facts = addCommand(facts, { at: ENTERED + index, command: `x${index % 100}`, mark: 0 })
      evaluate(rules, facts)
    }
    // Well under a second; reading all facts each time would be 800 million steps.
    expect(cpuMs() - begun).toBeLessThan(8000)
  })
})

describe('layers', () => {
  it('[REQ-RULE-15] hold the newest value of every key, and old versions hold the old one', () => {
    const versions = [NO_LAYERS as ReturnType<typeof makeLayers<number>>]
    for (let index = 0; index < 6000; index += 1)
      versions.push(write(versions[index] ?? NO_LAYERS, `k${index % 5000}`, index))
    const newest = versions.at(-1) ?? NO_LAYERS
    for (let index = 0; index < 5000; index += 1)
      expect(read(newest, `k${index}`)).toBe(index < 1000 ? index + 5000 : index)
    expect([...listValues(newest)].sort((left, right) => left - right)).toEqual(
      Array.from({ length: 5000 }, (_, index) => index + 1000),
    )
    expect(read(versions[5000] ?? NO_LAYERS, 'k3')).toBe(3)
    expect(read(versions[3] ?? NO_LAYERS, 'k3')).toBeUndefined()
    expect(newest.slice(0, 3).map((layer) => layer.size <= 4096)).toEqual([true, true, true])
    expect(newest[0]?.size).toBeLessThanOrEqual(16)
    expect(newest[1]?.size).toBeLessThanOrEqual(256)
  })
})
