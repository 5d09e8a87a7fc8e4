import type { JsonObject } from '../../core/json.js'
import { formatTime, listOf, toObject, toText } from '../client/answer-values.js'
import { formatEventTable } from './event-lines.js'
import { formatNewestTests } from './evidence-text.js'
import { toPlainLine, toPlainText } from './plain-text.js'
import { formatTable } from './table.js'
import { paintText } from './terminal.js'

export function formatTaskTable(tasks: readonly JsonObject[]): string {
  return formatTable(tasks, [
    { title: 'ID', text: (task) => toText(task.id) },
    { title: 'STATUS', text: formatTaskStatus },
    { title: 'PHASE', text: (task) => toText(task.phase) },
    { title: 'AGENT', text: (task) => toText(task.agent_id) || '-', isFlexible: true },
    { title: 'TITLE', text: (task) => toText(task.title), isFlexible: true },
  ])
}

/** The status in words, and whether the gates are being checked. */
export function formatTaskStatus(task: JsonObject): string {
  return `${toText(task.status)}${task.checking === true ? ' (checking)' : ''}`
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
    `${paintText('bold', toPlainLine(toText(task.id)))}  ${toPlainLine(toText(task.title))}`,
    ...listFields(task, events).map(([label, text]) => `  ${label.padEnd(12)} ${toPlainLine(text)}`),
    ...indentLines(toText(task.description)),
    ...about.reviews,
    '',
    `Timeline${note}`,
    formatEventTable(shown, 'one_task'),
  ].join('\n')
}

function listFields(task: JsonObject, events: readonly JsonObject[]): readonly (readonly [string, string])[] {
  const contract = toObject(task.contract)
  const approval = toObject(task.pending_approval)
  const all: readonly (readonly [string, string])[] = [
    ['Status', formatTaskStatus(task)],
    ['Parked', toText(task.parked_reason)],
    ['Phase', toText(task.phase)],
    ['Done', toText(task.completed_phases)],
    ['Tests', formatNewestTests(events)],
    ['Agent', toText(task.agent_id)],
    ['Lease until', formatTime(task.lease_expires_at)],
    ['Approval', approval.id === undefined ? '' : `${toText(approval.id)} is waiting`],
    ['Vote', formatVote(toObject(task.pending_consensus))],
    ['Claimable', formatTime(task.claimable_at)],
    ['Reviewers', formatWaiting(listOf(task.reviewers_wanted))],
    [
      'Alerts',
      listOf(task.alerts)
        .map((one) => toText(one.alert))
        .join(', '),
    ],
    ['Questions', task.open_questions === 0 ? '' : `${toText(task.open_questions)} open`],
    [
      'Contract',
      `${toText(contract.name)} ${toText(contract.version)} (${toText(contract.hash).slice(0, 12)})${task.mode === null ? '' : `, ${toText(task.mode)}`}`,
    ],
    ['Depends on', toText(task.depends_on)],
    ['Requires', toText(task.requires)],
    ['Work tree', toText(task.workspace)],
    ['Refusals', toText(task.refusals)],
    ['Created', formatTime(task.created_at)],
    ['Changed', formatTime(task.updated_at)],
  ]
  return all.filter(([, text]) => text !== '')
}

function formatVote(vote: JsonObject): string {
  if (vote.id === undefined) return ''
  const { voters, voted, awaited } = vote
  const counts = Array.isArray(voters) && Array.isArray(voted) ? `${voted.length} of ${voters.length} voted` : 'goes on'
  const whom = Array.isArray(awaited) && awaited.length > 0 ? `, waiting for ${toText(awaited)}` : ''
  return `${toText(vote.id)}: ${counts}${whom}`
}

function formatWaiting(slots: readonly JsonObject[]): string {
  const open = slots.filter((slot) => slot.status !== 'finished').map((slot) => toText(slot.name))
  return open.length === 0 ? '' : `waiting for reviewers: ${open.join(', ')}`
}

function indentLines(text: string): readonly string[] {
  if (text === '') return []
  const lines = toPlainText(text).split('\n')
  return ['', ...lines.map((line) => `  ${line}`)]
}
