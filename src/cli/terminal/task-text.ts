import type { JsonObject } from '../../core/json.js'
import { listOf, objectOf, textOf, timeOf } from '../client/answer-values.js'
import { eventTable } from './event-lines.js'
import { newestTests } from './evidence-text.js'
import { plainLine, plainText } from './plain-text.js'
import { table } from './table.js'
import { paint } from './terminal.js'

export function taskTable(tasks: readonly JsonObject[]): string {
  return table(tasks, [
    { title: 'ID', text: (task) => textOf(task.id) },
    { title: 'STATUS', text: statusOf },
    { title: 'PHASE', text: (task) => textOf(task.phase) },
    { title: 'AGENT', text: (task) => textOf(task.agent_id) || '-', isFlexible: true },
    { title: 'TITLE', text: (task) => textOf(task.title), isFlexible: true },
  ])
}

/** The status in words, and whether the gates are being checked. */
export function statusOf(task: JsonObject): string {
  return `${textOf(task.status)}${task.checking === true ? ' (checking)' : ''}`
}

/** A task with its newest events. */
export function showTask(
  task: JsonObject,
  about: { readonly events: readonly JsonObject[]; readonly reviews: readonly string[] },
  eventsMax: number,
): string {
  const { events } = about
  const shown = events.slice(-eventsMax)
  const left = events.length - shown.length
  const note = left === 0 ? '' : ` (the newest ${shown.length} of ${events.length}; --limit or --json shows more)`
  return [
    `${paint('bold', plainLine(textOf(task.id)))}  ${plainLine(textOf(task.title))}`,
    ...fieldsOf(task, events).map(([label, text]) => `  ${label.padEnd(12)} ${plainLine(text)}`),
    ...indented(textOf(task.description)),
    ...about.reviews,
    '',
    `Timeline${note}`,
    eventTable(shown, 'one_task'),
  ].join('\n')
}

function fieldsOf(task: JsonObject, events: readonly JsonObject[]): readonly (readonly [string, string])[] {
  const contract = objectOf(task.contract)
  const approval = objectOf(task.pending_approval)
  const all: readonly (readonly [string, string])[] = [
    ['Status', statusOf(task)],
    ['Parked', textOf(task.parked_reason)],
    ['Phase', textOf(task.phase)],
    ['Done', textOf(task.completed_phases)],
    ['Tests', newestTests(events)],
    ['Agent', textOf(task.agent_id)],
    ['Lease until', timeOf(task.lease_expires_at)],
    ['Approval', approval.id === undefined ? '' : `${textOf(approval.id)} is waiting`],
    ['Vote', voteText(objectOf(task.pending_consensus))],
    ['Claimable', timeOf(task.claimable_at)],
    ['Reviewers', waitingText(listOf(task.reviewers_wanted))],
    [
      'Alerts',
      listOf(task.alerts)
        .map((one) => textOf(one.alert))
        .join(', '),
    ],
    ['Questions', task.open_questions === 0 ? '' : `${textOf(task.open_questions)} open`],
    [
      'Contract',
      `${textOf(contract.name)} ${textOf(contract.version)} (${textOf(contract.hash).slice(0, 12)})${task.mode === null ? '' : `, ${textOf(task.mode)}`}`,
    ],
    ['Depends on', textOf(task.depends_on)],
    ['Requires', textOf(task.requires)],
    ['Work tree', textOf(task.workspace)],
    ['Refusals', textOf(task.refusals)],
    ['Created', timeOf(task.created_at)],
    ['Changed', timeOf(task.updated_at)],
  ]
  return all.filter(([, text]) => text !== '')
}

function voteText(vote: JsonObject): string {
  if (vote.id === undefined) return ''
  const { voters, voted, awaited } = vote
  const counts = Array.isArray(voters) && Array.isArray(voted) ? `${voted.length} of ${voters.length} voted` : 'goes on'
  const whom = Array.isArray(awaited) && awaited.length > 0 ? `, waiting for ${textOf(awaited)}` : ''
  return `${textOf(vote.id)}: ${counts}${whom}`
}

function waitingText(slots: readonly JsonObject[]): string {
  const open = slots.filter((slot) => slot.status !== 'finished').map((slot) => textOf(slot.name))
  return open.length === 0 ? '' : `waiting for reviewers: ${open.join(', ')}`
}

function indented(text: string): readonly string[] {
  if (text === '') return []
  const lines = plainText(text).split('\n')
  return ['', ...lines.map((line) => `  ${line}`)]
}
