import type { JsonObject } from '../../core/json.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { formatTable } from './table.js'

const CLOCK = /T(\d\d:\d\d:\d\d)/

// What tells the most about an event, most telling first.
const TELLING = [
  'code',
  'tool_name',
  'to',
  'gate',
  'decision',
  'approval_id',
  'question_id',
  'reviewer',
  'alert',
  'names',
  'status',
  'by',
  'agent_id',
  'name',
  'title',
  'reason',
  'comment',
  'detail',
  'count',
] as const

/** Events as a table, in the order given; those of one task do not name it. */
export function formatEventTable(events: readonly JsonObject[], of: 'all' | 'one_task' = 'all'): string {
  const days = new Set(events.map((event) => formatDay(event)))
  return formatTable(events, [
    { title: 'SEQ', text: (event) => toText(event.seq) },
    {
      title: 'TIME (UTC)',
      text: (event) => (days.size > 1 ? `${formatDay(event)} ${formatClock(event)}` : formatClock(event)),
    },
    { title: 'EVENT', text: (event) => toText(event.type) },
    ...(of === 'all' ? [{ title: 'TASK', text: getTask, isFlexible: true }] : []),
    { title: 'PHASE', text: (event) => toText(event.phase) },
    { title: 'DETAIL', text: formatDetail, isFlexible: true },
  ])
}

/** One event on one line. */
export function formatEventLine(event: JsonObject): string {
  return [
    `#${toText(event.seq)}`,
    formatClock(event),
    toText(event.type),
    getTask(event),
    toText(event.phase),
    toText(event.actor),
    summarizeEvent(event),
  ]
    .filter((part) => part !== '')
    .join('  ')
}

/** What happened, in the words of the event's data. */
export function summarizeEvent(event: JsonObject): string {
  return listParts(event).join(' · ')
}

// A table has no column for who it was. Of a refusal that is told next to its code, before there is no room left.
function formatDetail(event: JsonObject): string {
  const isRefused = toText(toObject(event.data).code) !== ''
  const who = toText(event.actor).replace(/^(agent|operator|reviewer):/, '')
  const all = listParts(event)
  if (who === '' || who === 'system' || (!isRefused && all.includes(who))) return all.join(' · ')
  const parts = all.filter((part) => part !== who)
  const at = isRefused ? 1 : parts.length
  return [...parts.slice(0, at), who, ...parts.slice(at)].join(' · ')
}

function listParts(event: JsonObject): readonly string[] {
  const data = toObject(event.data)
  return TELLING.filter((key) => key !== 'agent_id' || toText(event.actor) !== `agent:${toText(data.agent_id)}`)
    .map((key) => (key === 'to' && data.to !== undefined ? `-> ${toText(data.to)}` : toText(data[key])))
    .concat(listGrades(data))
    .filter((part) => part !== '')
}

// What observed runs are worth, where some came with the event.
function listGrades(data: JsonObject): readonly string[] {
  return listOf(data.observed).map(({ name, grade }) => `${toText(name)} ${toText(grade)}`.trim())
}

function getTask(event: JsonObject): string {
  return toText(event.stream).replace(/^task:/, '')
}

function formatClock(event: JsonObject): string {
  return CLOCK.exec(toText(event.at))?.[1] ?? ''
}

function formatDay(event: JsonObject): string {
  return toText(event.at).slice(5, 10)
}
