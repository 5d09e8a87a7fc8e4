import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addCommand, addEdit, type Facts, NO_FACTS } from '../../../src/core/rules/facts.js'
import { depth } from '../../depth.js'
import { ENTERED, evaluate, matches, rule } from './visit.js'

// Each run is several thousand judgements; mutants are given fewer of them.
const RUNS = Number(process.env.PHASELOCK_RULE_RUNS ?? depth(20, 100))

const NAMED_MAX = 500

interface Asked {
  readonly pattern: string | null
  readonly threshold: number
  readonly window: number
  readonly unlessProgress: boolean
  readonly enteredAt: number
  readonly now: number
  readonly mark: number
}

/** What the specification says, read over all facts each time. */
type CommandFact = Parameters<typeof addCommand>[1]

function reference(facts: readonly CommandFact[], asked: Asked) {
  const inOrder = [...facts].sort((left, right) => left.at - right.at)
  const lastOther = inOrder.findLastIndex((fact) => fact.mark !== asked.mark)
  const inRow = asked.unlessProgress ? inOrder.slice(lastOther + 1) : inOrder
  const counted = inRow.filter(
    ({ at, command }) =>
      at >= asked.enteredAt &&
      Math.min(at, asked.now) >= asked.now - asked.window * 1000 &&
      (asked.pattern === null || matches(asked.pattern, command)),
  )
  const isSame = (name: string) => (fact: CommandFact) => fact.command === name
  const frequency = new Map<string, number>()
  // Everything is counted; names are found among the newest.
  for (const { command } of counted.slice(-NAMED_MAX)) frequency.set(command, (frequency.get(command) ?? 0) + 1)
  const ranked = [...frequency].sort((left, right) => right[1] - left[1]).map(([name]) => name)
  const count = asked.pattern === null ? counted.filter(isSame(ranked[0] ?? '')).length : counted.length
  if (count < asked.threshold) return null
  const names = ranked.slice(0, asked.pattern === null ? 1 : 3)
  const listed = asked.pattern === null ? counted.filter((fact) => fact.command === names[0]) : counted
  return { count, names, recent: listed.slice(-5).map((fact) => fact.at) }
}

function judged(facts: Facts, asked: Asked, type: string) {
  const { pattern, threshold, window, unlessProgress } = asked
  const key = type === 'repeated_command' ? 'pattern' : 'path_pattern'
  const source = {
    type,
    threshold,
    window,
    unless_progress: unlessProgress,
    ...(pattern === null ? {} : { [key]: pattern }),
  }
  const { violation } = evaluate([rule(source)], facts, asked)
  if (violation === null) return null
  const { count, most_frequent: names } = violation.metrics_snapshot
  return { count, names, recent: violation.recent_events.map((event) => event.at) }
}

const factIn = (span: number) =>
  fc.record({
    at: fc.integer({ min: -2, max: span }).map((offset) => ENTERED + offset * 500),
    command: fc.constantFrom('a', 'b', 'ab', 'c', 'cb'),
    mark: fc.integer({ min: 0, max: 1 }),
  })
const inTime = (facts: readonly CommandFact[]) => [...facts].sort((left, right) => left.at - right.at)
const history = fc.oneof(
  fc.array(factIn(40), { maxLength: 40 }),
  fc.array(factIn(400), { minLength: 50, maxLength: 400 }).map(inTime),
  fc.array(factIn(400), { minLength: 300, maxLength: 700 }),
)
const question = fc.record({
  pattern: fc.constantFrom(null, null, 'a', 'b', '^c', 'nothing'),
  threshold: fc.integer({ min: 1, max: 8 }),
  window: fc.integer({ min: 1, max: 30 }),
  unlessProgress: fc.boolean(),
  enteredAt: fc.integer({ min: -1, max: 8 }).map((offset) => ENTERED + offset * 500),
  now: fc.integer({ min: -4, max: 240 }).map((offset) => ENTERED + offset * 500),
  mark: fc.integer({ min: 0, max: 1 }),
})

describe('the rules of repetition', () => {
  it('[REQ-RULE-13] give the same result as a plain reading of all facts, in any order of facts and questions', () => {
    fc.assert(
      fc.property(
        history,
        fc.array(question, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 90 }),
        (ran, questions, every) => {
          let facts = NO_FACTS
          const versions: [Facts, number][] = []
          for (const [index, fact] of ran.entries()) {
            facts = addCommand(facts, fact)
            if (index % every === 0) {
              versions.push([facts, index + 1])
              for (const asked of questions) judged(facts, asked, 'repeated_command')
            }
          }
          versions.push([facts, ran.length])
          for (const [version, length] of versions.reverse())
            for (const asked of questions)
              expect(judged(version, asked, 'repeated_command')).toEqual(reference(ran.slice(0, length), asked))
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('[REQ-RULE-13] judge edits in the same way', () => {
    fc.assert(
      fc.property(history, question, (made, asked) => {
        const facts = made.reduce(
          (all, { at, command, mark }) => addEdit(all, { at, path: command, tool: 'Edit', mark }),
          NO_FACTS,
        )
        expect(judged(facts, asked, 'repeated_file_edit')).toEqual(reference(made, asked))
      }),
      { numRuns: RUNS },
    )
  })
})
