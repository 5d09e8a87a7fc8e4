import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json.js'
import type { RuleContext } from '../../../src/core/rules/evaluate.js'
import { addCommand, addEdit, type Facts, NO_FACTS } from '../../../src/core/rules/facts.js'
import { cpuMs } from '../../cpu-time.js'
import { commands, ENTERED, each, edits, evaluate, matches, rule, second, violation } from './visit.js'

interface Case {
  readonly name: string
  readonly rule: JsonObject
  /** Made in the test itself: what fails while tests are collected fails none of them. */
  readonly facts: () => Facts
  readonly about?: Partial<RuleContext>
  readonly says: string | null
}

const repeated: JsonObject = { type: 'repeated_command', threshold: 3, window: 60 }
const cargo: JsonObject = { type: 'repeated_command', pattern: 'cargo (build|test)', threshold: 5, window: 120 }
const rust: JsonObject = { type: 'repeated_file_edit', path_pattern: 'src/.*\\.rs', threshold: 6, window: 180 }

const seedFour = [...Array(5).fill('git status'), ...Array(3).fill('cargo build'), 'cargo fmt', 'cargo test']

const cases: readonly Case[] = [
  { name: '[REQ-RULE-3] no command at all is no repetition', rule: repeated, facts: () => NO_FACTS, says: null },
  {
    name: '[REQ-RULE-3] one command fewer than the threshold is no repetition',
    rule: repeated,
    facts: () => commands(...each('ls', 'ls', 'pwd', 'pwd')),
    says: null,
  },
  {
    name: '[REQ-RULE-3] as many as the threshold is one',
    rule: repeated,
    facts: () => commands(...each('ls', 'ls', 'pwd', 'ls')),
    says: 'ls executed 3 times in 1 minute',
  },
  {
    name: '[REQ-RULE-3] four ls and one pwd with a threshold of three are a repetition of ls (seed 003, test 2)',
    rule: repeated,
    facts: () => commands(...each('ls', 'ls', 'ls', 'ls', 'pwd')),
    says: 'ls executed 4 times in 1 minute',
  },
  {
    name: '[REQ-RULE-3] of two repeated commands the more frequent one is named',
    rule: repeated,
    facts: () => commands(...each('ls', 'ls', 'ls', 'ls', 'pwd', 'pwd', 'pwd')),
    says: 'ls executed 4 times in 1 minute',
  },
  {
    name: '[REQ-RULE-3] of two equally frequent commands the one that came first is named',
    rule: repeated,
    facts: () => commands(...each('b', 'a', 'a', 'b', 'b', 'a')),
    says: 'b executed 3 times in 1 minute',
  },
  {
    name: '[REQ-RULE-3] a command run long ago and again does not hide one that is repeated now',
    rule: { ...repeated, threshold: 2, window: 20 },
    facts: () => commands([1, 'a'], [50, 'b'], [51, 'b'], [52, 'a']),
    says: 'b executed 2 times in 20 seconds',
  },
  {
    name: '[REQ-RULE-3] commands that differ by a space are different commands',
    rule: repeated,
    facts: () => commands(...each('ls', 'ls', 'ls ', 'LS')),
    says: null,
  },
  {
    name: '[REQ-RULE-3] a threshold of one is reached by one command',
    rule: { ...repeated, threshold: 1, window: 1 },
    facts: () => commands([60, 'ls']),
    says: 'ls executed 1 time in 1 second',
  },
  {
    name: '[REQ-RULE-1] matches of a pattern are counted together (seed 003, test 4)',
    rule: cargo,
    facts: () => commands(...each(...seedFour, 'cargo test')),
    says: 'cargo build, cargo test executed 5 times in 2 minutes',
  },
  {
    name: '[REQ-RULE-1] one match fewer than the threshold is no repetition',
    rule: cargo,
    facts: () => commands(...each(...seedFour)),
    says: null,
  },
  {
    name: '[REQ-RULE-1] a pattern that nothing matches is never violated',
    rule: { ...cargo, threshold: 1 },
    facts: () => commands(...each('make', 'make')),
    says: null,
  },
  {
    name: '[REQ-RULE-1] one command that matches is named alone',
    rule: cargo,
    facts: () => commands(...each(...Array(5).fill('cargo build'), ...Array(3).fill('git status'))),
    says: 'cargo build executed 5 times in 2 minutes',
  },
  {
    name: '[REQ-RULE-1] three names at most, the most frequent first, and the count is of all',
    rule: { ...cargo, pattern: '^c' },
    facts: () => commands(...each('c4', 'c1', 'c2', 'c1', 'c3', 'c2', 'c1', 'x')),
    says: 'c1, c2, c4 executed 7 times in 2 minutes',
  },
  {
    name: '[REQ-RULE-2] edits of all matching paths are counted together (seed 003, test 5)',
    rule: rust,
    facts: () =>
      edits(...each(...Array(4).fill('src/main.rs'), ...Array(2).fill('README.md'), ...Array(3).fill('src/lib.rs'))),
    says: 'src/main.rs, src/lib.rs edited 7 times in 3 minutes',
  },
  {
    name: '[REQ-RULE-2] paths that do not match do not count',
    rule: rust,
    facts: () => edits(...each(...Array(5).fill('src/main.rs'), ...Array(9).fill('README.md'))),
    says: null,
  },
  {
    name: '[REQ-RULE-2] without a pattern one same path must reach the threshold',
    rule: { type: 'repeated_file_edit', threshold: 3, window: 90 },
    facts: () => edits(...each('a', 'b', 'a', 'b')),
    says: null,
  },
  {
    name: '[REQ-RULE-2] without a pattern the path that reached the threshold is named',
    rule: { type: 'repeated_file_edit', threshold: 3, window: 90 },
    facts: () => edits(...each('a', 'b', 'a', 'b', 'b')),
    says: 'b edited 3 times in 90 seconds',
  },
  {
    name: '[REQ-RULE-2] commands are no edits',
    rule: { type: 'repeated_file_edit', threshold: 1, window: 90 },
    facts: () => commands(...each('a', 'a')),
    says: null,
  },
  {
    name: '[REQ-RULE-2] edits are no commands',
    rule: { ...repeated, threshold: 1 },
    facts: () => edits(...each('a', 'a')),
    says: null,
  },
]

describe('repeated commands and edits', () => {
  it.each(cases)('$name', ({ rule: source, facts, about, says }) => {
    expect(violation(source, facts(), about)?.diagnostic ?? null).toBe(says)
  })
})

describe.each([
  ['without a pattern', {}],
  ['with a pattern', { pattern: 'ls' }],
] as const)('the window, %s', (_name, pattern) => {
  const source: JsonObject = { ...repeated, ...pattern }
  const counted = (facts: Facts, about: Partial<RuleContext> = {}) =>
    violation(source, facts, about)?.metrics_snapshot.count ?? null

  it('[REQ-RULE-4] what is exactly as old as the window still counts, a millisecond more does not', () => {
    const facts = commands([0, 'ls'], [30, 'ls'], [40, 'ls'])
    expect(counted(facts, { now: second(60) })).toBe(3)
    expect(counted(facts, { now: second(60) + 1 })).toBeNull()
  })

  it('[REQ-RULE-4] only what is inside the window is counted', () => {
    const facts = commands([1, 'ls'], [2, 'ls'], [30, 'ls'], [40, 'ls'], [50, 'ls'])
    expect(counted(facts, { now: second(61) })).toBe(5)
    expect(counted(facts, { now: second(62) })).toBe(4)
    expect(counted(facts, { now: second(90) })).toBe(3)
    expect(counted(facts, { now: second(91) })).toBeNull()
  })

  it('[REQ-RULE-4] a fact from the future counts as one of now', () => {
    expect(counted(commands([1, 'ls'], [2, 'ls'], [3, 'ls']), { now: second(0) })).toBe(3)
  })

  it('[REQ-RULE-5] what happened before the visit began does not count', () => {
    const facts = commands([-1, 'ls'], [0, 'ls'], [1, 'ls'])
    expect(counted(facts, { now: second(2) })).toBeNull()
    expect(counted(facts, { now: second(2), enteredAt: second(-1) })).toBe(3)
    expect(counted(facts, { now: second(2), enteredAt: second(-1) + 1 })).toBeNull()
  })

  it('[REQ-RULE-5] a clock set back before the start counts nothing older', () => {
    expect(counted(commands([-3, 'ls'], [-2, 'ls'], [-1, 'ls']), { now: second(-1) })).toBeNull()
  })

  it('[REQ-RULE-12] unless_progress: what was before the last progress does not count', () => {
    const sticky: JsonObject = { ...source, unless_progress: true }
    const facts = commands([1, 'ls', 0], [2, 'ls', 1], [3, 'ls', 1])
    expect(violation(sticky, facts, { mark: 1 })).toBeNull()
    const more = addCommand(facts, { at: second(4), command: 'ls', mark: 1 })
    expect(violation(sticky, more, { mark: 1 })?.metrics_snapshot.count).toBe(3)
    expect(violation(source, facts, { mark: 1 })?.metrics_snapshot.count).toBe(3)
  })

  it('[REQ-RULE-12] unless_progress: progress since the newest fact means that nothing counts', () => {
    const sticky: JsonObject = { ...source, unless_progress: true }
    const facts = commands([1, 'ls'], [2, 'ls'], [3, 'ls'])
    expect(violation(sticky, facts, { mark: 0 })?.metrics_snapshot.count).toBe(3)
    expect(violation(sticky, facts, { mark: 1 })).toBeNull()
  })

  it('[REQ-RULE-12] unless_progress: facts of the same mark with another one between them are not in a row', () => {
    const sticky: JsonObject = { ...source, unless_progress: true }
    const facts = commands([1, 'ls', 1], [2, 'ls', 2], [3, 'ls', 1], [4, 'ls', 1])
    expect(violation(sticky, facts, { mark: 1 })).toBeNull()
  })

  it('[REQ-RULE-12] unless_progress: of facts of one time the last that came is the newest', () => {
    const sticky: JsonObject = { ...source, unless_progress: true, threshold: 1 }
    const facts = commands([1, 'ls', 1], [2, 'ls', 1], [2, 'ls', 2])
    expect(violation(sticky, facts, { mark: 2 })?.metrics_snapshot.count).toBe(1)
    expect(violation(sticky, facts, { mark: 1 })).toBeNull()
    expect(violation(sticky, NO_FACTS, { mark: 1 })).toBeNull()
  })

  it('[REQ-RULE-12] unless_progress: the window holds as well', () => {
    const sticky: JsonObject = { ...source, unless_progress: true }
    expect(violation(sticky, commands([0, 'ls'], [1, 'ls'], [2, 'ls']), { now: second(60) })).not.toBeNull()
    expect(violation(sticky, commands([0, 'ls'], [1, 'ls'], [2, 'ls']), { now: second(60) + 1 })).toBeNull()
  })
})

describe('what a violation tells', () => {
  it('[REQ-RULE-16] the five newest of what was counted, oldest first, and the numbers', () => {
    const found = violation(
      { ...cargo, threshold: 6 },
      commands(
        [1, 'cargo build'],
        [2, 'ls'],
        [3, 'cargo test'],
        ...[4, 5, 6, 7].map((at) => [at, 'cargo build'] as const),
      ),
    )
    expect(found).toMatchObject({ rule: 'CODE[0]', rule_type: 'repeated_command', pattern: 'cargo (build|test)' })
    expect(found?.recent_events).toEqual(
      [3, 4, 5, 6, 7].map((at) => ({ at: second(at), text: at === 3 ? 'cargo test' : 'cargo build', tool: null })),
    )
    expect(found?.metrics_snapshot).toEqual({
      phase: 'CODE',
      duration_seconds: 60,
      commands: 7,
      edits: 0,
      turns: 0,
      tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0 },
      usage: 'none',
      count: 6,
      threshold: 6,
      window_seconds: 120,
      most_frequent: ['cargo build', 'cargo test'],
    })
  })

  it('[REQ-RULE-16] without a pattern only the command that is repeated is listed', () => {
    const found = violation(repeated, commands(...each('ls', 'pwd', 'ls', 'pwd', 'ls')))
    expect(found?.recent_events.map((event) => event.text)).toEqual(['ls', 'ls', 'ls'])
    expect(found?.pattern).toBeNull()
  })

  it('[REQ-RULE-16] edits are listed with their path, and the tool beside it', () => {
    const found = violation({ ...rust, threshold: 2 }, edits([1, 'src/a.rs', 'Write'], [2, 'src/a.rs']))
    expect(found?.recent_events).toEqual([
      { at: second(1), text: 'Edit (src/a.rs)', tool: 'Write' },
      { at: second(2), text: 'Edit (src/a.rs)', tool: 'Edit' },
    ])
  })

  it('[REQ-RULE-3] a command repeated long ago is named although very many others came after it', () => {
    const many = Array.from({ length: 700 }, (_, index) => `once ${index}`)
    const facts = [...Array(3).fill('ls'), ...many].reduce(
      (all, command, index) => addCommand(all, { at: ENTERED + index, command, mark: 0 }),
      NO_FACTS,
    )
    const found = violation(repeated, facts, { now: second(1) })
    expect(found?.diagnostic).toBe('ls executed 3 times in 1 minute')
    expect(found?.recent_events.map((event) => event.at)).toEqual([ENTERED, ENTERED + 1, ENTERED + 2])
  })

  it('[REQ-RULE-1] all matches are counted, however many there are', () => {
    let facts = NO_FACTS
    for (let index = 0; index < 2000; index += 1)
      facts = addEdit(facts, { at: ENTERED + index, path: `src/${index % 2}.rs`, tool: 'Edit', mark: 0 })
    expect(violation({ ...rust, threshold: 2001 }, facts)).toBeNull()
    expect(violation({ ...rust, threshold: 2000 }, facts)?.diagnostic).toBe(
      'src/0.rs, src/1.rs edited 2,000 times in 3 minutes',
    )
  })
})

describe('several rules over the same facts', () => {
  it('[REQ-RULE-15] each is judged by its own threshold and its own pattern', () => {
    const facts = commands(...each('ls', 'ls', 'ps'))
    const sources: readonly JsonObject[] = [
      { threshold: 2 },
      { threshold: 3 },
      { threshold: 2, pattern: 's' },
      { threshold: 3, pattern: 's' },
      { threshold: 2, pattern: 'p' },
    ]
    const rules = sources.map((one, index) => rule({ ...repeated, ...one, shadow: true }, `CODE[${index}]`))
    expect(evaluate(rules, facts).shadowed.map((one) => [one.rule, one.metrics_snapshot.count])).toEqual([
      ['CODE[0]', 2],
      ['CODE[2]', 3],
      ['CODE[3]', 3],
    ])
  })
})

describe('the cost of patterns', () => {
  it('[REQ-RULE-18] a text is matched once with each pattern, whatever comes and however often is asked', () => {
    const asked: string[] = []
    const counting = (pattern: string, text: string) => {
      asked.push(`${pattern} ${text}`)
      return matches(pattern, text)
    }
    const rules = ['l', 's'].map((pattern, index) => rule({ ...repeated, pattern, threshold: 9 }, `CODE[${index}]`))
    let facts = NO_FACTS
    for (const [at, command] of [...each('ls', 'ps', 'ls', 'ps'), [2.5, 'ls'] as const, [0.5, 'ps'] as const]) {
      const before = facts
      facts = addCommand(facts, { at: second(at), command, mark: 0 })
      for (const one of [facts, before, facts]) evaluate(rules, one, { matches: counting })
    }
    expect(asked.sort()).toEqual(['l ls', 'l ps', 's ls', 's ps'])
  })

  it('[REQ-RULE-18] a pattern of nested repetitions decides over very long commands in milliseconds', () => {
    const facts = commands(...each(...Array.from({ length: 10 }, (_, index) => `${'a'.repeat(50_000)}${index}`)))
    const begun = cpuMs()
    expect(violation({ ...repeated, pattern: '(a+)+$' }, facts)).toBeNull()
    expect(violation({ ...repeated, pattern: '(a+)+.$' }, facts)?.metrics_snapshot.count).toBe(10)
    expect(cpuMs() - begun).toBeLessThan(2000)
  })
})
