import type { Approval, ContractRow, Overview, Question, TaskDetails, WorkingAgent } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { timeOf } from '../client/answer-values.js'
import type { RunShown } from '../workflow/run-status.js'
import { runLines } from '../workflow/run-text.js'
import { approvalTable } from './approval-text.js'
import { questionTable } from './question-text.js'
import { table } from './table.js'
import { paint } from './terminal.js'

/** What `status` shows. */
export interface Status {
  readonly server: { readonly url: string; readonly status: string }
  readonly contract: Partial<ContractRow>
  readonly mode: string
  readonly paused: string | null
  readonly tasks: Overview['counts']
  readonly active: Overview['agents']
  readonly alerts: Overview['alerts']
  readonly approvals: readonly Approval[]
  readonly questions: readonly Question[]
  readonly parked: readonly TaskDetails[]
  readonly run: RunShown | null
}

/** Everything an operator wants to know at a glance. */
export function statusText({
  server,
  contract,
  active,
  alerts,
  approvals,
  questions,
  parked,
  ...status
}: Status): string {
  const field = (label: string, text: string): string => `${label.padEnd(9)} ${plainLine(text)}`
  const { name = '', version = '', hash = '' } = contract
  return [
    field('Server', `${server.url}, ${server.status}`),
    field('Contract', `${name} ${version} (${hash.slice(0, 12)})`),
    field('Mode', status.mode),
    ...(status.paused === null ? [] : [field('Paused', `all agents: ${status.paused}`)]),
    field('Tasks', countsText(status.tasks.by_status)),
    ...(status.run === null ? [] : ['', paint('bold', 'Run'), ...runLines(status.run)]),
    '',
    paint('bold', 'Working'),
    active.length === 0 ? '  Nobody works on a task.' : activeTable(active),
    ...active.flatMap(waitingLine),
    ...(alerts.length === 0 ? [] : ['', paint('bold', 'Alerts'), alertTable(alerts)]),
    '',
    paint('bold', 'Waiting for you'),
    ...(approvals.length === 0
      ? []
      : [`${approvalTable(approvals)}\nLook and answer: phaselock approve ID, phaselock reject ID --comment TEXT`]),
    ...(questions.length === 0
      ? []
      : [`${questionTable(questions)}\nLook and answer: phaselock questions ID, phaselock answer ID TEXT`]),
    ...(parked.length === 0 ? [] : [`${parkedTable(parked)}\nLet one go on: phaselock task resume ID --reason TEXT`]),
    ...(approvals.length + questions.length + parked.length === 0 ? ['  Nothing.'] : []),
  ].join('\n')
}

function waitingLine({ task_id, waiting_for_reviewers: names = [] }: WorkingAgent): readonly string[] {
  return names.length === 0 ? [] : [plainLine(`${task_id} is waiting for reviewers: ${names.join(', ')}`)]
}

function parkedTable(tasks: Status['parked']): string {
  return table(tasks, [
    { title: 'PARKED', text: (one) => one.id },
    { title: 'PHASE', text: (one) => one.phase },
    { title: 'TASK', text: (one) => one.title, isFlexible: true },
    { title: 'WHY', text: (one) => one.parked_reason, isFlexible: true },
  ])
}

function alertTable(alerts: Status['alerts']): string {
  return table(alerts, [
    { title: 'TASK', text: (one) => one.task_id },
    { title: 'ALERT', text: (one) => one.alert },
    { title: 'SINCE', text: (one) => timeOf(one.since) },
    { title: 'MESSAGE', text: (one) => one.message, isFlexible: true },
  ])
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([status, count]) => `${count} ${status}`)
  return parts.length === 0 ? 'none' : parts.join(', ')
}

function activeTable(active: Status['active']): string {
  return table(active, [
    { title: 'TASK', text: (one) => one.task_id },
    { title: 'PHASE', text: (one) => `${one.phase}${one.checking ? ' (checking)' : ''}` },
    { title: 'AGENT', text: (one) => one.agent_id, isFlexible: true },
    { title: 'LAST CHANGE', text: (one) => timeOf(one.since) },
  ])
}
