import type { JsonObject } from '../../core/json.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { toNumber } from '../report/analyze-text.js'

const VERDICTS = [
  ['proved', 'proved'],
  ['survived', 'cannot fail'],
  ['not_judged', 'not judged'],
  ['no_evidence', 'without evidence'],
] as const

/** A run of the tests in a few words: `2 passed; new tests: 1 proved`. */
export function runText(run: JsonObject): string {
  const counts = (['passed', 'failed', 'skipped'] as const)
    .filter((name) => toNumber(run[name]) > 0)
    .map((name) => `${toNumber(run[name])} ${name}`)
  const inverted = toObject(run.inverted)
  const verdicts = VERDICTS.filter(([name]) => toNumber(inverted[name]) > 0).map(
    ([name, words]) => `${toNumber(inverted[name])} ${words}`,
  )
  return [counts.join(', '), ...(verdicts.length === 0 ? [] : [`new tests: ${verdicts.join(', ')}`])]
    .filter((part) => part !== '')
    .join('; ')
}

/** The newest run of the tests at a gate, with its grade; empty where there is none. */
export function formatNewestTests(events: readonly JsonObject[]): string {
  const run = events
    .flatMap(({ type, data }) => (type === 'transition_requested' ? listOf(toObject(data).observed) : []))
    .findLast(({ name }) => name === 'tests')
  return run === undefined ? '' : `${toText(run.grade)}: ${runText(run) || 'no test was counted'}`
}
