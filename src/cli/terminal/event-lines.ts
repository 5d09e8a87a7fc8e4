import type { JsonObject, LedgerEvent } from 'phaselock/sdk'
import { textOf } from '../client/answer-values.js'
import { table } from './table.js'

const CLOCK = /T(\d\d:\d\d:\d\d)/

// What tells the most about an event, most telling first.
const TELLING = [
  ...['code', 'tool_name', 'to', 'gate', 'decision', 'approval_id', 'question_id', 'reviewer', 'alert', 'names'],
  ...['status', 'by', 'agent_id', 'name', 'title', 'reason', 'comment', 'detail', 'count'],
]

/** Events as a table, in the order given; those of one task do not name it. */
export function eventTable(events: readonly LedgerEvent[], of: 'all' | 'one_task' = 'all'): string {
  const days = new Set(events.map((event) => dayOf(event)))
  return table(events, [
    { title: 'SEQ', text: (event) => event.seq },
    { title: 'TIME (UTC)', text: (event) => (days.size > 1 ? `${dayOf(event)} ${clockOf(event)}` : clockOf(event)) },
    { title: 'EVENT', text: (event) => event.type },
    ...(of === 'all' ? [{ title: 'TASK', text: taskOf, isFlexible: true }] : []),
    { title: 'PHASE', text: (event) => event.phase },
    { title: 'DETAIL', text: detailOf, isFlexible: true },
  ])
}

/** One event on one line. */
export function eventLine(event: LedgerEvent): string {
  const { seq, type, phase, actor } = event
  return [`#${seq}`, clockOf(event), type, taskOf(event), phase ?? '', actor, summaryOf(event)]
    .filter((part) => part !== '')
    .join('  ')
}

// What happened, in the words of the event's data.
function summaryOf(event: LedgerEvent): string {
  return partsOf(event).join(' · ')
}

// A table has no column for who it was. Of a refusal that is told next to its code, before there is no room left.
function detailOf(event: LedgerEvent): string {
  const isRefused = textOf(event.data.code) !== ''
  const who = event.actor.replace(/^(agent|operator|reviewer):/, '')
  const all = partsOf(event)
  if (who === '' || who === 'system' || (!isRefused && all.includes(who))) return all.join(' · ')
  const parts = all.filter((part) => part !== who)
  const at = isRefused ? 1 : parts.length
  return [...parts.slice(0, at), who, ...parts.slice(at)].join(' · ')
}

function partsOf({ actor, data }: LedgerEvent): readonly string[] {
  return TELLING.filter((key) => key !== 'agent_id' || actor !== `agent:${textOf(data.agent_id)}`)
    .map((key) => (key === 'to' && data.to !== undefined ? `-> ${textOf(data.to)}` : textOf(data[key])))
    .concat(gradesOf(data))
    .filter((part) => part !== '')
}

// What observed runs are worth, where some came with the event.
function gradesOf(data: JsonObject): readonly string[] {
  const observed = (data.observed ?? []) as readonly { readonly name?: string; readonly grade?: string }[]
  return observed.map(({ name = '', grade = '' }) => `${name} ${grade}`.trim())
}

function taskOf(event: LedgerEvent): string {
  return event.stream.replace(/^task:/, '')
}

function clockOf(event: LedgerEvent): string {
  return CLOCK.exec(event.at)?.[1] ?? ''
}

function dayOf(event: LedgerEvent): string {
  return event.at.slice(5, 10)
}
