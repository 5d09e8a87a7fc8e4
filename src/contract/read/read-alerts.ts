import type { Json, JsonObject } from '../../core/json.js'
import type { ListNode, SourceNode } from '../load/yaml.js'
import { Fields } from './fields.js'
import type { Reading } from './reading.js'

/** What each condition is measured in: a share between 0 and 1, or seconds. */
const CONDITIONS: ReadonlyMap<string, 'above' | 'above_seconds'> = new Map([
  ['gate_block_rate', 'above'],
  ['task_stuck_in_phase', 'above_seconds'],
  ['approval_waiting', 'above_seconds'],
])
const SECONDS_OF_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400 }

/** Alerts, also in the form of one text: `gate_block_rate > 50%`, `task_stuck_in_phase > 2h`. */
export function readAlerts(reading: Reading, list: ListNode): JsonObject[] {
  return list.items.flatMap((item) => readAlert(reading, item))
}

function readAlert(reading: Reading, item: SourceNode): JsonObject[] {
  const fields = Fields.openFields(reading, item, ['condition', 'above', 'above_seconds', 'action', 'message'])
  if (fields === null) return []
  const text = fields.needText('condition', 'gate_block_rate')
  if (text === '') return []
  const alert: Record<string, Json> = { ...readCondition(fields, text) }
  if (fields.has('action')) alert.action = fields.choice('action', ['notify_human'], 'notify_human')
  if (fields.has('message')) alert.message = fields.getText('message')
  return [reading.made(alert, item)]
}

function readCondition(fields: Fields, text: string): JsonObject {
  const parts = /^(\w+)\s*>\s*(\d+(?:\.\d+)?)\s*(%|[smhd])?$/.exec(text.trim())
  const condition = parts?.[1] ?? text
  const measure = CONDITIONS.get(condition)
  if (measure === undefined) {
    const known = [...CONDITIONS.keys()].join(', ')
    fields.reportBad(
      'condition',
      'contract.invalid_value',
      `The condition '${text}' is not known.`,
      `Known conditions: ${known}.`,
    )
    return { condition }
  }
  const limit = parts === null ? readLimit(fields, measure) : parseLimit(Number(parts[2]), parts[3] ?? '', measure)
  if (limit === null)
    fields.reportBad('condition', 'contract.invalid_value', `The limit of '${text}' has the wrong unit.`)
  else if (limit <= 0)
    fields.reportBad(parts === null ? measure : 'condition', 'contract.not_positive', 'The limit must be above 0.')
  return { condition, [measure]: limit ?? 1 }
}

function readLimit(fields: Fields, measure: 'above' | 'above_seconds'): number | null {
  const node = fields.get(measure)
  if (node === undefined) {
    fields.reportMissing(measure, measure === 'above' ? '0.5' : '900')
    return 1
  }
  if (measure === 'above_seconds') return fields.getPositive(measure, 1)
  return node.kind === 'scalar' && typeof node.value === 'number' ? node.value : null
}

function parseLimit(value: number, unit: string, measure: 'above' | 'above_seconds'): number | null {
  if (measure === 'above') return unit === '%' ? value / 100 : unit === '' ? value : null
  const seconds = unit === '' ? 1 : SECONDS_OF_UNIT[unit]
  return seconds === undefined ? null : Math.round(value * seconds)
}
