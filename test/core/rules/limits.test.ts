import { describe, expect, it } from 'vitest'
import { addTurn, addUsage, NO_FACTS, sumFacts } from '../../../src/core/rules/facts.js'
import { commands, each, evaluate, rule, second, usage, used, violation } from './visit.js'

describe('phase_timeout', () => {
  const timeout = { type: 'phase_timeout', max_duration: 300 }

  it('[REQ-RULE-6] a visit that lasts exactly as long as it may is not a violation, a millisecond more is', () => {
    expect(violation(timeout, NO_FACTS, { now: second(300) })).toBeNull()
    expect(violation(timeout, NO_FACTS, { now: second(300) + 1 })?.rule_type).toBe('phase_timeout')
  })

  it('[REQ-RULE-6] 400 seconds with a limit of 300 (seed 003, test 3)', () => {
    const found = violation(timeout, NO_FACTS, { now: second(400) })
    expect(found?.diagnostic).toBe('Phase running for 6m 40s (limit: 5m)')
    expect(found?.details).toEqual(['Phase start: 04:26:00', 'Current time: 04:32:40', 'Duration: 400 seconds'])
    expect(found?.metrics_snapshot).toMatchObject({ duration_seconds: 400, max_duration: 300 })
    expect(found).toMatchObject({ recent_events: [], pattern: null })
  })

  it('[REQ-RULE-6] a clock that went back never triggers', () => {
    expect(violation({ ...timeout, max_duration: 1 }, NO_FACTS, { now: second(-1_000_000) })).toBeNull()
    const other = violation({ type: 'repeated_command', threshold: 1, window: 1 }, commands([1, 'ls']), {
      now: second(-5),
    })
    expect(other?.metrics_snapshot.duration_seconds).toBe(0)
  })
})

describe('token_budget', () => {
  const budget = { type: 'token_budget', max_tokens: 1000 }

  it('[REQ-RULE-7] exactly the budget is not a violation, one token more is', () => {
    expect(violation(budget, used({ input: 600, output: 400 }))).toBeNull()
    expect(violation(budget, used({ input: 600, output: 401 }))?.diagnostic).toBe(
      'Token budget exceeded: 1,001 / 1,000',
    )
  })

  it('[REQ-RULE-7] 800 in and 700 out with a budget of 1,000 (seed 003, test 1)', () => {
    const found = violation(budget, used({ input: 800, output: 700 }))
    expect(found?.diagnostic).toBe('Token budget exceeded: 1,500 / 1,000')
    expect(found?.metrics_snapshot).toMatchObject({ tokens_used: 1500, max_tokens: 1000 })
    expect(found?.suggestion).toBe('Consider simplifying scope or splitting work')
  })

  it('[REQ-RULE-7] cache tokens are reported and not counted', () => {
    const facts = used({ input: 1, cacheRead: 9000, cacheWrite: 8000 })
    expect(violation(budget, facts)).toBeNull()
    expect(sumFacts(facts).tokens).toEqual({ input: 1, output: 0, cache_read: 9000, cache_write: 8000 })
  })

  it('[REQ-RULE-7] messages without an id are all counted', () => {
    expect(violation(budget, used({ input: 400 }, { input: 400 }, { output: 201 }))?.metrics_snapshot.tokens_used).toBe(
      1001,
    )
  })

  it('[REQ-RULE-8] lines of one message count once, with their largest values, in any order', () => {
    const lines = [
      { id: 'm', input: 10, output: 1, cacheRead: 5 },
      { id: 'm', input: 9, output: 7, cacheWrite: 3 },
      { id: 'm', input: 10, output: 4 },
    ]
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
    ])
      expect(sumFacts(used(...order.map((index) => lines[index] ?? {}))).tokens).toEqual({
        input: 10,
        output: 7,
        cache_read: 5,
        cache_write: 3,
      })
    expect(sumFacts(used(...lines, { id: 'n', input: 1 })).tokens.input).toBe(11)
    const [kept, tooLong] = ['x'.repeat(500), 'x'.repeat(501)]
    expect(sumFacts(used({ id: kept, input: 1 }, { id: kept, input: 1 })).tokens.input).toBe(1)
    expect(sumFacts(used({ id: tooLong, input: 1 }, { id: tooLong, input: 1 })).tokens.input).toBe(2)
    expect(used({ id: 'm' }, { id: 'm' }, { id: 'n' }).usage).toMatchObject({ kept: 2, added: 2 })
  })

  it('[REQ-RULE-8] invalid and negative numbers subtract nothing', () => {
    const facts = used({ input: 5 }, { input: -100, output: Number.NaN }, { id: 'm', input: 2.9 })
    expect(sumFacts(facts).tokens).toMatchObject({ input: 7, output: 0 })
    const endless = used(...Array.from({ length: 10 }, () => ({ input: Number.POSITIVE_INFINITY })))
    expect(sumFacts(endless).tokens.input).toBe(1e13)
  })

  it('[REQ-RULE-5] what was used before the visit began does not count, and a message belongs where it began', () => {
    const facts = used(
      { at: second(-1), input: 900 },
      { id: 'm', at: second(2), input: 700 },
      { id: 'm', at: second(-1), input: 800 },
      { at: second(0), input: 500 },
      { at: second(1), output: 501 },
    )
    expect(violation(budget, facts)?.metrics_snapshot.tokens_used).toBe(1001)
    expect(violation(budget, facts, { enteredAt: second(1) })).toBeNull()
    expect(violation(budget, facts, { enteredAt: second(-1) })?.metrics_snapshot.tokens_used).toBe(2701)
  })

  it('[REQ-RULE-11] without usage the budget is reported as unavailable and blocks nothing', () => {
    const rules = [rule(budget), rule({ type: 'phase_timeout', max_duration: 1 }, 'CODE[1]'), rule(budget, 'CODE[2]')]
    expect(evaluate(rules, NO_FACTS)).toMatchObject({
      violation: { rule: 'CODE[1]' },
      shadowed: [],
      unavailable: ['CODE[0]', 'CODE[2]'],
    })
    expect(evaluate(rules, used({})).unavailable).toEqual([])
    expect(evaluate(rules, used({ at: second(-1), input: 5000 })).unavailable).toEqual(['CODE[0]', 'CODE[2]'])
  })

  it('[REQ-RULE-11] usage is graded by the weakest of its sources', () => {
    expect(sumFacts(NO_FACTS).usage).toBe('none')
    expect(sumFacts(used({}, {})).usage).toBe('observed')
    expect(sumFacts(used({ grade: 'reported' }, {})).usage).toBe('reported')
    expect(sumFacts(used({ id: 'm' }, { id: 'm', grade: 'reported' })).usage).toBe('reported')
  })
})

describe('require_commits', () => {
  const source = { type: 'require_commits', lookback_phases: 1 }

  it('[REQ-RULE-9] is violated only on leaving without a commit', () => {
    for (const [leaving, commitSince, isViolated] of [
      [true, false, true],
      [true, true, false],
      [true, null, false],
      [false, false, false],
      [false, null, false],
    ] as const)
      expect(violation(source, NO_FACTS, { leaving, commitSince }) !== null, `${leaving} ${commitSince}`).toBe(
        isViolated,
      )
  })

  it('[REQ-RULE-9] says since when', () => {
    const about = { leaving: true, commitSince: false }
    expect(violation(source, NO_FACTS, about)?.diagnostic).toBe('No git commit since the start of CODE (1 phase back)')
    const two = violation({ ...source, lookback_phases: 2 }, NO_FACTS, about)
    expect(two?.diagnostic).toBe('No git commit in the last 2 phases')
    expect(two?.metrics_snapshot).toMatchObject({ lookback_phases: 2 })
    expect(two?.suggestion).toBe(
      'Commit what is done before you leave this phase.\nLook at git status first, and commit what belongs together with a message that says why.',
    )
  })

  it('[REQ-RULE-9] is reported as unavailable if commits are unknown', () => {
    const rules = [rule(source)]
    expect(evaluate(rules, NO_FACTS, { leaving: true, commitSince: null }).unavailable).toEqual(['CODE[0]'])
    expect(evaluate(rules, NO_FACTS, { leaving: true, commitSince: true }).unavailable).toEqual([])
    expect(evaluate(rules, NO_FACTS, { leaving: false, commitSince: null }).unavailable).toEqual([])
    const other = [rule({ type: 'phase_timeout', max_duration: 1 })]
    expect(evaluate(other, NO_FACTS, { leaving: true, commitSince: null }).unavailable).toEqual([])
  })
})

describe('several rules', () => {
  const budget = () => rule({ type: 'token_budget', max_tokens: 5000 }, 'CODE[0]')
  const command = { type: 'repeated_command', threshold: 2, window: 60 }
  const timeout = { type: 'phase_timeout', max_duration: 1 }
  const facts = () => addUsage(commands(...each('ls', 'ls')), usage({ input: 1 }))

  it('[REQ-RULE-10] the first violation in the order of the rules wins (seed 003, test 6)', () => {
    const late = rule(timeout, 'CODE[2]')
    expect(evaluate([budget(), rule(command, 'CODE[1]'), late], facts()).violation?.rule).toBe('CODE[1]')
    expect(evaluate([budget(), late, rule(command, 'CODE[1]')], facts()).violation?.rule).toBe('CODE[2]')
  })

  it('[REQ-RULE-10] a shadow rule never acts and is always reported, before and after a rule that acts', () => {
    const shadows = [1, 3].map((index) => rule({ ...command, shadow: true }, `CODE[${index}]`))
    const found = evaluate([...shadows.slice(0, 1), rule(timeout, 'CODE[2]'), ...shadows.slice(1)], facts())
    expect(found.violation?.rule).toBe('CODE[2]')
    expect(found.shadowed.map((one) => one.rule)).toEqual(['CODE[1]', 'CODE[3]'])
    expect(evaluate(shadows, facts()).violation).toBeNull()
    expect(evaluate(shadows, NO_FACTS).shadowed).toEqual([])
  })

  it('[REQ-RULE-20] where there are no rules nothing is violated (seed 003, test 11)', () => {
    expect(evaluate([], facts())).toEqual({ violation: null, shadowed: [], unavailable: [] })
  })

  it('[REQ-RULE-15] turns are counted', () => {
    expect(sumFacts(addTurn(addTurn(facts())))).toMatchObject({ turns: 2, commands: 2, edits: 0 })
  })
})
