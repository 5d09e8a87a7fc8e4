import { describe, expect, it } from 'vitest'
import type { Facts } from '../../../src/core/rules/facts.js'
import { addCommand, addEdit, NO_FACTS, totals } from '../../../src/core/rules/facts.js'
import { type layersOf, NO_LAYERS, read, valuesOf, write } from '../../../src/core/rules/layers.js'
import { FACTS_MAX, factsOf } from '../../../src/core/rules/log.js'
import { commands, ENTERED, each, evaluate, matches, rule, second, violation } from './visit.js'

const FIFTY_THOUSAND = 50_000

function filled(count: number, commandAt: (index: number) => string): Facts {
  let facts = NO_FACTS
  for (let index = 0; index < count; index += 1)
    facts = addCommand(facts, { at: ENTERED + index, command: commandAt(index), mark: 0 })
  return facts
}

describe('facts', () => {
  it('[REQ-RULE-15] adding leaves the facts as they were', () => {
    const before = commands(...each('ls', 'ls'))
    const copy = structuredClone(before)
    const repeated = { type: 'repeated_command', threshold: 3, window: 60 }
    const more = addCommand(before, { at: second(3), command: 'ls', mark: 0 })
    const other = addCommand(before, { at: second(3), command: 'pwd', mark: 0 })
    expect(violation(repeated, more)).not.toBeNull()
    expect(violation(repeated, before)).toBeNull()
    expect(violation(repeated, other)).toBeNull()
    expect(violation(repeated, more)).not.toBeNull()
    expect(before).toEqual(copy)
    expect(NO_FACTS).toEqual({ ...NO_FACTS, turns: 0, commands: { sealed: [], open: [], kept: 0, added: 0 } })
  })

  it('[REQ-RULE-15] facts that were copied and have lost what was remembered of them are judged the same', () => {
    const facts = filled(400, (index) => (index % 7 === 0 ? 'ls' : `x${index}`))
    const rules = [
      rule({ type: 'repeated_command', threshold: 58, window: 60 }),
      rule({ type: 'repeated_command', pattern: 'x', threshold: 1, window: 60, shadow: true }),
    ]
    const found = evaluate(rules, facts)
    expect(found.violation?.metrics_snapshot.count).toBe(58)
    expect(evaluate(rules, structuredClone(facts))).toEqual(found)
    const next = { at: ENTERED + 400, command: 'ls', mark: 0 }
    expect(evaluate(rules, addCommand(structuredClone(facts), next))).toEqual(evaluate(rules, addCommand(facts, next)))
  })

  it('[REQ-RULE-13] a late fact is put where it belongs, after those of the same time', () => {
    const facts = commands([1, 'a'], [3, 'c'], [2, 'b'], [3, 'd'], [0, 'z'], [1, 'a2'])
    expect(factsOf(facts.commands).map((fact) => fact.text)).toEqual(['z', 'a', 'a2', 'b', 'c', 'd'])
  })

  it('[REQ-RULE-13] very late facts find their place among many', () => {
    let facts = filled(2000, (index) => `x${index}`)
    const times = [0, 1, 31, 32, 33, 63, 64, 999, 1000, 1500, 1999, -5, 5000, ...Array(100).fill(700)]
    for (const [index, at] of times.entries())
      facts = addCommand(facts, { at: ENTERED + at, command: `late ${index}`, mark: index })
    const all = factsOf(facts.commands)
    expect(all).toHaveLength(2000 + times.length)
    expect(all.map((fact) => fact.at)).toEqual(all.map((fact) => fact.at).sort((left, right) => left - right))
    const sevenHundred = all.filter((fact) => fact.at === ENTERED + 700).map((fact) => fact.text)
    expect(sevenHundred).toEqual(['x700', ...Array.from({ length: 100 }, (_, index) => `late ${index + 13}`)])
    expect(Math.max(...facts.commands.sealed.map((chunk) => chunk.length))).toBeLessThan(64)
    const late = { type: 'repeated_command', pattern: '^late', threshold: 112, window: 60 }
    expect(violation(late, facts)?.metrics_snapshot.count).toBe(112)
    expect(violation({ ...late, threshold: 113 }, facts)).toBeNull()
  })

  it('[REQ-RULE-14] long commands, paths and tools are cut, and a cut text has no end that a pattern could find', () => {
    const long = '🚨'.repeat(50_000)
    let facts = addCommand(NO_FACTS, { at: ENTERED, command: `a${long}`, mark: 0 })
    facts = addEdit(facts, { at: ENTERED, path: long, tool: long, mark: 0 })
    const [command] = factsOf(facts.commands)
    const [edit] = factsOf(facts.edits)
    expect(command?.text).toBe(`a${'🚨'.repeat(999)}…`)
    expect(edit?.text.length).toBe(4096)
    expect(edit?.text.endsWith('🚨\uFFFD…')).toBe(true)
    expect(edit?.tool?.length).toBe(100)
    const whole = addCommand(NO_FACTS, { at: ENTERED, command: 'x'.repeat(2000), mark: 0 })
    expect(factsOf(whole.commands)[0]?.text).toBe('x'.repeat(2000))
    expect(violation({ type: 'repeated_command', pattern: '🚨$', threshold: 1, window: 60 }, facts)).toBeNull()
  })

  it('[REQ-RULE-14] at most fifty thousand facts are kept, the oldest go first, and all are in the totals', () => {
    const facts = filled(FIFTY_THOUSAND, (index) => (index < 3 ? 'first' : `x${index % 1000}`))
    expect(FACTS_MAX).toBe(FIFTY_THOUSAND)
    expect(factsOf(facts.commands)).toHaveLength(FIFTY_THOUSAND)
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
    const kept = factsOf(more.commands)
    expect(kept).toHaveLength(45_001)
    expect(more.commands.kept).toBe(45_001)
    expect(kept[0]?.at).toBe(ENTERED + 5000)
    expect(totals(more).commands).toBe(50_001)
    const next = addCommand(more, { at: ENTERED + FIFTY_THOUSAND + 1, command: 'x1', mark: 0 })
    expect(factsOf(next.commands).at(-1)?.at).toBe(ENTERED + FIFTY_THOUSAND + 1)
    expect(countsOf(next)).toEqual([47])
  })
})

describe('layers', () => {
  it('[REQ-RULE-15] hold the newest value of every key, and old versions hold the old one', () => {
    const versions = [NO_LAYERS as ReturnType<typeof layersOf<number>>]
    for (let index = 0; index < 6000; index += 1)
      versions.push(write(versions[index] ?? NO_LAYERS, `k${index % 5000}`, index))
    const newest = versions.at(-1) ?? NO_LAYERS
    for (let index = 0; index < 5000; index += 1)
      expect(read(newest, `k${index}`)).toBe(index < 1000 ? index + 5000 : index)
    expect([...valuesOf(newest)].sort((left, right) => left - right)).toEqual(
      Array.from({ length: 5000 }, (_, index) => index + 1000),
    )
    expect(read(versions[5000] ?? NO_LAYERS, 'k3')).toBe(3)
    expect(read(versions[3] ?? NO_LAYERS, 'k3')).toBeUndefined()
    expect(newest.slice(0, 3).map((layer) => layer.size <= 4096)).toEqual([true, true, true])
    expect(newest[0]?.size).toBeLessThanOrEqual(16)
    expect(newest[1]?.size).toBeLessThanOrEqual(256)
  })
})
