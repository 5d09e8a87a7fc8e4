import { compilePattern } from '../../../src/contract/patterns.js'
import type { JsonObject } from '../../../src/core/json.js'
import { type Evaluation, evaluateRules, type RuleContext, type Violation } from '../../../src/core/rules/evaluate.js'
import { addCommand, addEdit, addUsage, type Facts, NO_FACTS, type UsageFact } from '../../../src/core/rules/facts.js'
import { compileRule, type Rule } from '../../../src/core/rules/rule.js'
import { pure } from '../world.js'

/** 04:26:00 UTC. */
export const ENTERED = Date.UTC(2026, 0, 15, 4, 26, 0)

/** Seconds after the visit began. */
export function second(count: number): number {
  return ENTERED + count * 1000
}

const compiled = new Map<string, (text: string) => boolean>()

export function matches(pattern: string, text: string): boolean {
  let test = compiled.get(pattern)
  if (test === undefined) {
    const result = compilePattern(pattern)
    if (!result.ok) throw new Error(result.reason)
    test = result.test
    compiled.set(pattern, test)
  }
  return test(text)
}

/** Commands at seconds of the visit; a third number is the mark. */
export function commands(...ran: readonly (readonly [number, string, number?])[]): Facts {
  return ran.reduce((facts, [at, command, mark = 0]) => addCommand(facts, { at: second(at), command, mark }), NO_FACTS)
}

export function edits(...made: readonly (readonly [number, string, string?])[]): Facts {
  return made.reduce(
    (facts, [at, path, tool = 'Edit']) => addEdit(facts, { at: second(at), path, tool, mark: 0 }),
    NO_FACTS,
  )
}

/** Many commands, a millisecond apart. */
export function filled(count: number, commandAt: (index: number) => string): Facts {
  let facts = NO_FACTS
  for (let index = 0; index < count; index += 1)
    facts = addCommand(facts, { at: ENTERED + index, command: commandAt(index), mark: 0 })
  return facts
}

/** The same texts one second apart, from the first second on. */
export function each(...texts: readonly string[]): readonly (readonly [number, string])[] {
  return texts.map((text, index) => [index + 1, text])
}

export function usage(about: Partial<UsageFact> = {}): UsageFact {
  return {
    at: second(1),
    id: null,
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    grade: 'observed',
    ...about,
  }
}

export function used(...facts: readonly Partial<UsageFact>[]): Facts {
  return facts.reduce<Facts>((all, one) => addUsage(all, usage(one)), NO_FACTS)
}

export function rule(source: JsonObject, id = 'CODE[0]'): Rule {
  return compileRule(id, { on_violation: 'interrupt', unless_progress: false, shadow: false, ...source })
}

export function context(facts: Facts, about: Partial<RuleContext> = {}): RuleContext {
  return {
    phase: 'CODE',
    enteredAt: ENTERED,
    now: second(60),
    facts,
    mark: 0,
    matches,
    leaving: false,
    commitSince: null,
    ...about,
  }
}

export function evaluate(rules: readonly Rule[], facts: Facts, about: Partial<RuleContext> = {}): Evaluation {
  return pure(() => evaluateRules(rules, context(facts, about)))
}

/** The violation of one rule, or null. */
export function violation(source: JsonObject, facts: Facts, about: Partial<RuleContext> = {}): Violation | null {
  return evaluate([rule(source)], facts, about).violation
}
