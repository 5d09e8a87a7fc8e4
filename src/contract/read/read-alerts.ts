import { choice, filled, number, positive, text } from '../schema/kinds.js'
import { maybe, need, object } from '../schema/object.js'
import type { Fields } from './fields.js'

type Measure = 'above' | 'above_seconds'

/** The unit of each condition: a share between 0 and 1, or seconds. */
const CONDITIONS: ReadonlyMap<string, Measure> = new Map([
  ['gate_block_rate', 'above'],
  ['task_stuck_in_phase', 'above_seconds'],
  ['approval_waiting', 'above_seconds'],
])
const SECONDS_OF_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400 }
const NAMES = [...CONDITIONS.keys()]

/** An alert, also as one text: `gate_block_rate > 50%`, `task_stuck_in_phase > 2h`. */
export const ALERT = object(
  'alert',
  'Alerts',
  {
    condition: need(
      filled,
      '`gate_block_rate`, `task_stuck_in_phase` or `approval_waiting`; also with its limit in one text, as in `gate_block_rate > 50%` and `task_stuck_in_phase > 2h`.',
      'gate_block_rate',
      {
        words: 'condition',
        json: { pattern: `^(${NAMES.join('|')})(\\s*>\\s*[0-9]+(\\.[0-9]+)?\\s*(%|[smhd])?)?$` },
      },
    ),
    above: maybe(number, 'The limit of a rate, between 0 and 1.', '0.5', {
      words: 'share',
      unset: 'required for a rate',
      json: { exclusiveMinimum: 0 },
    }),
    above_seconds: maybe(positive, 'The limit of a duration.', '900', { unset: 'required for a duration' }),
    action: maybe(choice(['notify_human']), 'What happens.', 'notify_human', { unset: '`notify_human`' }),
    message: maybe(text, 'What is said.', 'Agents may be struggling'),
  },
  {
    finish: ({ above, above_seconds, condition: said, ...rest }, fields) => {
      if (said === '') return null
      return { ...rest, ...parseLimit(fields, said, { above, above_seconds }) }
    },
  },
)

type Limits = { readonly [K in Measure]: number | undefined }

function parseLimit(fields: Fields, said: string, limits: Limits) {
  const parts = /^(\w+)\s*>\s*(\d+(?:\.\d+)?)\s*(%|[smhd])?$/.exec(said.trim())
  const condition = parts?.[1] ?? said
  const measure = CONDITIONS.get(condition)
  if (measure === undefined) {
    const message = `The condition '${said}' is not known.`
    fields.reportBad('condition', 'contract.invalid_value', message, `Known conditions: ${NAMES.join(', ')}.`)
    return { condition }
  }
  if (parts === null && !fields.has(measure)) {
    fields.missing(measure, ALERT.fields[measure].example)
    return { condition }
  }
  const limit = parts === null ? limits[measure] : inUnit(Number(parts[2]), parts[3] ?? '', measure)
  if (limit === undefined)
    fields.reportBad('condition', 'contract.invalid_value', `The limit of '${said}' has the wrong unit.`)
  else if (limit <= 0)
    fields.reportBad(parts === null ? measure : 'condition', 'contract.not_positive', 'The limit must be above 0.')
  return { condition, [measure]: limit } as { condition: string } & { [K in Measure]?: number }
}

function inUnit(value: number, unit: string, measure: Measure): number | undefined {
  if (measure === 'above') return unit === '%' ? value / 100 : unit === '' ? value : undefined
  const seconds = unit === '' ? 1 : SECONDS_OF_UNIT[unit]
  return seconds === undefined ? undefined : Math.round(value * seconds)
}
