import type { JsonObject, LedgerEvent } from 'phaselock/sdk'
import { toText } from '../client/answer-values.js'
import { formatTable } from './table.js'

const CLOCK = /T(\d\d:\d\d:\d\d)/

// The most informative fields of an event, best first.
const TELLING = [
  ...['code', 'tool_name', 'to', 'gate', 'decision', 'approval_id', 'question_id', 'reviewer', 'alert', 'names'],
  ...['status', 'by', 'agent_id', 'name', 'title', 'reason', 'comment', 'detail', 'count'],
]

/** Events as a table, in the order given; those of one task do not name it. */
export function formatEventTable(events: readonly LedgerEvent[], of: 'all' | 'one_task' = 'all'): string {
  const days = new Set(events.map((event) => formatDay(event)))
  return formatTable(events, [
    { title: 'SEQ', text: (event) => event.seq },
    {
      title: 'TIME (UTC)',
      text: (event) => (days.size > 1 ? `${formatDay(event)} ${formatClock(event)}` : formatClock(event)),
    },
    { title: 'EVENT', text: (event) => event.type },
    ...(of === 'all' ? [{ title: 'TASK', text: getTask, isFlexible: true }] : []),
    { title: 'PHASE', text: (event) => event.phase },
    { title: 'DETAIL', text: formatDetail, isFlexible: true },
  ])
}

/** One event on one line. */
export function formatEventLine(event: LedgerEvent): string {
  const { seq, type, phase, actor } = event
  return [`#${seq}`, formatClock(event), type, getTask(event), phase ?? '', actor, summarizeEvent(event)]
    .filter((part) => part !== '')
    .join('  ')
}

// What happened, from the event's data.
function summarizeEvent(event: LedgerEvent): string {
  return listParts(event).join(' · ')
}

// A table has no column for the actor. For a refusal it comes right after the code, before the line is full.
function formatDetail(event: LedgerEvent): string {
  const isRefused = toText(event.data.code) !== ''
  const who = event.actor.replace(/^(agent|operator|reviewer):/, '')
  const all = listParts(event)
  if (who === '' || who === 'system' || (!isRefused && all.includes(who))) return all.join(' · ')
  const parts = all.filter((part) => part !== who)
  const at = isRefused ? 1 : parts.length
  return [...parts.slice(0, at), who, ...parts.slice(at)].join(' · ')
}

function listParts({ actor, data }: LedgerEvent): readonly string[] {
  return TELLING.filter((key) => key !== 'agent_id' || actor !== `agent:${toText(data.agent_id)}`)
    .map((key) => (key === 'to' && data.to !== undefined ? `-> ${toText(data.to)}` : toText(data[key])))
    .concat(listGrades(data))
    .filter((part) => part !== '')
}

// The grades of observed runs that came with the event.
function listGrades(data: JsonObject): readonly string[] {
  const observed = (data.observed ?? []) as readonly { readonly name?: string; readonly grade?: string }[]
  return observed.map(({ name = '', grade = '' }) => `${name} ${grade}`.trim())
}

function getTask(event: LedgerEvent): string {
  return event.stream.replace(/^task:/, '')
}

function formatClock(event: LedgerEvent): string {
  return CLOCK.exec(event.at)?.[1] ?? ''
}

function formatDay(event: LedgerEvent): string {
  return event.at.slice(5, 10)
}
