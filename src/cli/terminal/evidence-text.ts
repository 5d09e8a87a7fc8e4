import type { JsonObject } from '../../core/json.js'
import { listOf, objectOf, textOf } from '../client/answer-values.js'
import { numberOf } from '../report/analyze-text.js'

const VERDICTS = [
  ['proved', 'proved'],
  ['survived', 'cannot fail'],
  ['not_judged', 'not judged'],
  ['no_evidence', 'without evidence'],
] as const

/** A run of the tests in a few words: `2 passed; new tests: 1 proved`. */
export function runText(run: JsonObject): string {
  const counts = (['passed', 'failed', 'skipped'] as const)
    .filter((name) => numberOf(run[name]) > 0)
    .map((name) => `${numberOf(run[name])} ${name}`)
  const inverted = objectOf(run.inverted)
  const verdicts = VERDICTS.filter(([name]) => numberOf(inverted[name]) > 0).map(
    ([name, words]) => `${numberOf(inverted[name])} ${words}`,
  )
  const signal = run.sigusr1 === 'allowed' ? ['SIGUSR1 allowed'] : []
  return [counts.join(', '), ...signal, ...(verdicts.length === 0 ? [] : [`new tests: ${verdicts.join(', ')}`])]
    .filter((part) => part !== '')
    .join('; ')
}

/** The newest run of the tests at a gate, with its grade; empty where there is none. */
export function newestTests(events: readonly JsonObject[]): string {
  const run = events
    .flatMap(({ type, data }) => (type === 'transition_requested' ? listOf(objectOf(data).observed) : []))
    .findLast(({ name }) => name === 'tests')
  return run === undefined ? '' : `${textOf(run.grade)}: ${runText(run) || 'no test was counted'}`
}
