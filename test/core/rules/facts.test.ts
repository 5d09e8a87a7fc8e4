import { describe, expect, it } from 'vitest'
import { addCommand, addEdit, NO_FACTS } from '../../../src/core/rules/facts.js'
import { listFacts } from '../../../src/core/rules/log.js'
import { commands, ENTERED, each, evaluate, filled, rule, second, violation } from './visit.js'

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
    const facts = filled(400, (index) => (index % 7 === 0 ? 'ls' : `x${index % 50}`))
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
    expect(listFacts(facts.commands).map((fact) => fact.text)).toEqual(['z', 'a', 'a2', 'b', 'c', 'd'])
  })

  it('[REQ-RULE-13] facts of one time stay in the order they came, however many they are', () => {
    const names = Array.from({ length: 100 }, (_, index) => `x${index}`)
    const facts = commands(...names.map((name) => [1, name] as const))
    expect(listFacts(facts.commands).map((fact) => fact.text)).toEqual(names)
    expect(facts.commands.sealed.map((chunk) => chunk.length)).toEqual([32, 32, 32])
    expect(facts.commands.open).toHaveLength(4)
  })

  it('[REQ-RULE-13] a fact that is late by little finds its place in a chunk that was just sealed', () => {
    const facts = addCommand(
      filled(64, (index) => `x${index}`),
      { at: ENTERED + 61, command: 'late', mark: 0 },
    )
    expect(
      listFacts(facts.commands)
        .map((fact) => fact.text)
        .slice(-4),
    ).toEqual(['x61', 'late', 'x62', 'x63'])
  })

  it('[REQ-RULE-14] late facts make chunks grow to twice their size and no further', () => {
    const lengths = (late: number) => {
      let facts = filled(64, (index) => `x${index}`)
      for (let index = 0; index < late; index += 1)
        facts = addCommand(facts, { at: ENTERED + 5, command: 'l', mark: 0 })
      return facts.commands.sealed.map((chunk) => chunk.length)
    }
    expect([0, 1, 31, 32].map(lengths)).toEqual([
      [32, 32],
      [33, 32],
      [63, 32],
      [32, 32, 32],
    ])
  })

  it('[REQ-RULE-13] very late facts find their place among many', () => {
    let facts = filled(2000, (index) => `x${index}`)
    const times = [0, 1, 31, 32, 33, 63, 64, 999, 1000, 1500, 1999, -5, 5000, ...Array(100).fill(700)]
    for (const [index, at] of times.entries())
      facts = addCommand(facts, { at: ENTERED + at, command: `late ${index}`, mark: index })
    const all = listFacts(facts.commands)
    expect(all).toHaveLength(2000 + times.length)
    expect(all.map((fact) => fact.at)).toEqual(all.map((fact) => fact.at).sort((left, right) => left - right))
    const sevenHundred = all.filter((fact) => fact.at === ENTERED + 700).map((fact) => fact.text)
    expect(sevenHundred).toEqual(['x700', ...Array.from({ length: 100 }, (_, index) => `late ${index + 13}`)])
    expect(Math.max(...facts.commands.sealed.map((chunk) => chunk.length))).toBeLessThan(64)
    const late = { type: 'repeated_command', pattern: '^late', threshold: 112, window: 60 }
    expect(violation(late, facts)?.metrics_snapshot.count).toBe(112)
    expect(violation({ ...late, threshold: 113 }, facts)).toBeNull()
  })

  it('[REQ-RULE-14] long commands, paths and tools are cut, and an end-anchored pattern does not match a cut text', () => {
    const long = '🚨'.repeat(50_000)
    let facts = addCommand(NO_FACTS, { at: ENTERED, command: `a${long}`, mark: 0 })
    facts = addEdit(facts, { at: ENTERED, path: long, tool: long, mark: 0 })
    const [command] = listFacts(facts.commands)
    const [edit] = listFacts(facts.edits)
    expect(command?.text).toBe(`a${'🚨'.repeat(999)}…`)
    expect(edit?.text.length).toBe(4096)
    expect(edit?.text.endsWith('🚨\uFFFD…')).toBe(true)
    expect(edit?.tool?.length).toBe(100)
    const whole = addCommand(NO_FACTS, { at: ENTERED, command: 'x'.repeat(2000), mark: 0 })
    expect(listFacts(whole.commands)[0]?.text).toBe('x'.repeat(2000))
    expect(violation({ type: 'repeated_command', pattern: '🚨$', threshold: 1, window: 60 }, facts)).toBeNull()
  })
})
