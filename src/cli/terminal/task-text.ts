import type { LedgerEvent, PendingVote, TaskDetails, TaskRow } from 'phaselock/sdk'
import { plainLine, plainText } from '../../core/plain-text.js'
import { formatTime } from '../client/answer-values.js'
import { formatEventTable } from './event-lines.js'
import { formatNewestTests } from './evidence-text.js'
import { formatTable } from './table.js'
import { paintText } from './terminal.js'

export function formatTaskTable(tasks: readonly TaskRow[]): string {
  return formatTable(tasks, [
    { title: 'ID', text: (task) => task.id },
    { title: 'STATUS', text: formatTaskStatus },
    { title: 'PHASE', text: (task) => task.phase },
    { title: 'AGENT', text: (task) => task.agent_id ?? '-', isFlexible: true },
    { title: 'TITLE', text: (task) => task.title, isFlexible: true },
  ])
}

// The status as text, and whether the gates are being checked.
function formatTaskStatus(task: Pick<TaskRow, 'status' | 'checking'>): string {
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
    `${paintText('bold', plainLine(task.id))}  ${plainLine(task.title)}`,
    ...listFields(task, events).map(([label, text]) => `  ${label.padEnd(12)} ${plainLine(text)}`),
    ...indentLines(task.description),
    ...about.reviews,
    '',
    `Timeline${note}`,
    formatEventTable(shown, 'one_task'),
  ].join('\n')
}

function listFields(task: TaskDetails, events: readonly LedgerEvent[]): readonly (readonly [string, string])[] {
  const { contract, mode, reviewers_wanted, pending_approval } = task
  const awaited = reviewers_wanted.filter((slot) => slot.status !== 'finished').map((slot) => slot.name)
  const hash = contract.hash.slice(0, 12)
  const all: readonly (readonly [string, string | null])[] = [
    ['Status', formatTaskStatus(task)],
    ['Parked', task.parked_reason],
    ['Phase', task.phase],
    ['Done', task.completed_phases.join(', ')],
    ['Tests', formatNewestTests(events)],
    ['Agent', task.agent_id],
    ['Lease until', formatTime(task.lease_expires_at)],
    ['Approval', pending_approval === null ? '' : `${pending_approval.id} is waiting`],
    ['Vote', formatVote(task.pending_consensus)],
    ['Claimable', formatTime(task.claimable_at)],
    ['Reviewers', awaited.length === 0 ? '' : `waiting for reviewers: ${awaited.join(', ')}`],
    ['Alerts', task.alerts.map((alert) => alert.alert).join(', ')],
    ['Questions', task.open_questions === 0 ? '' : `${task.open_questions} open`],
    ['Contract', `${contract.name} ${contract.version} (${hash})${mode === null ? '' : `, ${mode}`}`],
    ['Depends on', task.depends_on.join(', ')],
    ['Requires', task.requires.join(', ')],
    ['Work tree', task.workspace],
    ['Refusals', String(task.refusals)],
    ['Created', formatTime(task.created_at)],
    ['Changed', formatTime(task.updated_at)],
  ]
  return all.flatMap(([label, text]) => (text === null || text === '' ? [] : [[label, text] as const]))
}

function formatVote(vote: PendingVote | null): string {
  if (vote === null) return ''
  const { id, voters, voted, awaited } = vote
  const whom = awaited.length > 0 ? `, waiting for ${awaited.join(', ')}` : ''
  return `${id}: ${voted.length} of ${voters.length} voted${whom}`
}

function indentLines(text: string): readonly string[] {
  if (text === '') return []
  const lines = plainText(text).split('\n')
  return ['', ...lines.map((line) => `  ${line}`)]
}
