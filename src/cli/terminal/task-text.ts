import type { LedgerEvent, PendingVote, TaskDetails, TaskRow } from 'phaselock/sdk'
import { plainLine, plainText } from '../../core/plain-text.js'
import { timeOf } from '../client/answer-values.js'
import { eventTable } from './event-lines.js'
import { newestTests } from './evidence-text.js'
import { table } from './table.js'
import { paint } from './terminal.js'

export function taskTable(tasks: readonly TaskRow[]): string {
  return table(tasks, [
    { title: 'ID', text: (task) => task.id },
    { title: 'STATUS', text: statusOf },
    { title: 'PHASE', text: (task) => task.phase },
    { title: 'AGENT', text: (task) => task.agent_id ?? '-', isFlexible: true },
    { title: 'TITLE', text: (task) => task.title, isFlexible: true },
  ])
}

// The status in words, and whether the gates are being checked.
function statusOf(task: Pick<TaskRow, 'status' | 'checking'>): string {
  return `${task.status}${task.checking ? ' (checking)' : ''}`
}

/** A task with its newest events. */
export function showTask(
  task: TaskDetails,
  about: { readonly events: readonly LedgerEvent[]; readonly reviews: readonly string[] },
  eventsMax: number,
): string {
  const { events } = about
  const shown = events.slice(-eventsMax)
  const left = events.length - shown.length
  const note = left === 0 ? '' : ` (the newest ${shown.length} of ${events.length}; --limit or --json shows more)`
  return [
    `${paint('bold', plainLine(task.id))}  ${plainLine(task.title)}`,
    ...fieldsOf(task, events).map(([label, text]) => `  ${label.padEnd(12)} ${plainLine(text)}`),
    ...indented(task.description),
    ...about.reviews,
    '',
    `Timeline${note}`,
    eventTable(shown, 'one_task'),
  ].join('\n')
}

function fieldsOf(task: TaskDetails, events: readonly LedgerEvent[]): readonly (readonly [string, string])[] {
  const { contract, mode, reviewers_wanted, pending_approval } = task
  const awaited = reviewers_wanted.filter((slot) => slot.status !== 'finished').map((slot) => slot.name)
  const hash = contract.hash.slice(0, 12)
  const all: readonly (readonly [string, string | null])[] = [
    ['Status', statusOf(task)],
    ['Parked', task.parked_reason],
    ['Phase', task.phase],
    ['Done', task.completed_phases.join(', ')],
    ['Tests', newestTests(events)],
    ['Agent', task.agent_id],
    ['Lease until', timeOf(task.lease_expires_at)],
    ['Approval', pending_approval === null ? '' : `${pending_approval.id} is waiting`],
    ['Vote', voteText(task.pending_consensus)],
    ['Claimable', timeOf(task.claimable_at)],
    ['Reviewers', awaited.length === 0 ? '' : `waiting for reviewers: ${awaited.join(', ')}`],
    ['Alerts', task.alerts.map((one) => one.alert).join(', ')],
    ['Questions', task.open_questions === 0 ? '' : `${task.open_questions} open`],
    ['Contract', `${contract.name} ${contract.version} (${hash})${mode === null ? '' : `, ${mode}`}`],
    ['Depends on', task.depends_on.join(', ')],
    ['Requires', task.requires.join(', ')],
    ['Work tree', task.workspace],
    ['Refusals', String(task.refusals)],
    ['Created', timeOf(task.created_at)],
    ['Changed', timeOf(task.updated_at)],
  ]
  return all.flatMap(([label, text]) => (text === null || text === '' ? [] : [[label, text] as const]))
}

function voteText(vote: PendingVote | null): string {
  if (vote === null) return ''
  const { id, voters, voted, awaited } = vote
  const whom = awaited.length > 0 ? `, waiting for ${awaited.join(', ')}` : ''
  return `${id}: ${voted.length} of ${voters.length} voted${whom}`
}

function indented(text: string): readonly string[] {
  if (text === '') return []
  const lines = plainText(text).split('\n')
  return ['', ...lines.map((line) => `  ${line}`)]
}
