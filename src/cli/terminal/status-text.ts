import type {
  Approval,
  ContractRow,
  InboxItem,
  Overview,
  Question,
  TaskDetails,
  TaskRow,
  WorkingAgent,
} from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { formatTime } from '../client/answer-values.js'
import type { RunShown } from '../workflow/run-status.js'
import { runLines } from '../workflow/run-text.js'
import { formatApprovalTable } from './approval-text.js'
import { formatQuestionTable } from './question-text.js'
import { formatTable } from './table.js'
import { paintText } from './terminal.js'

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
  /** Tasks whose work tree cannot be opened. */
  readonly missing_trees: readonly InboxItem[]
  /** Some of the tasks that nobody works on. */
  readonly waiting: readonly TaskRow[]
  readonly run: RunShown | null
}

/** Everything an operator wants to know at a glance. */
export function formatStatus({
  server,
  contract,
  active,
  alerts,
  approvals,
  questions,
  parked,
  missing_trees: missingTrees,
  waiting,
  ...status
}: Status): string {
  const field = (label: string, text: string): string => `${label.padEnd(9)} ${plainLine(text)}`
  const { name = '', version = '', hash = '' } = contract
  const stuck = active.filter(({ refused_in_a_row: count = 0 }) => count >= STUCK_REFUSALS)
  return [
    field('Server', `${server.url}, ${server.status}`),
    field('Contract', `${name} ${version} (${hash.slice(0, 12)})`),
    field('Mode', status.mode),
    ...(status.paused === null ? [] : [field('Paused', `all agents: ${status.paused}`)]),
    field('Tasks', `${formatCounts(status.tasks.by_status)}${nameReport(status.tasks.by_status)}`),
    ...(status.run === null ? [] : ['', paintText('bold', 'Run'), ...runLines(status.run)]),
    '',
    paintText('bold', 'Working'),
    active.length === 0 ? '  Nobody works on a task.' : formatActiveTable(active),
    ...active.flatMap(formatWaitingLine),
    ...(waiting.length === 0
      ? []
      : [`${formatWaitingTable(waiting)}\nTake one up: phaselock claude --task ID, or phaselock codex --task ID`]),
    ...(alerts.length === 0 ? [] : ['', paintText('bold', 'Alerts'), formatAlertTable(alerts)]),
    '',
    paintText('bold', 'Waiting for you'),
    ...(approvals.length === 0
      ? []
      : [
          `${formatApprovalTable(approvals)}\nLook and answer: phaselock approve ID, phaselock reject ID --comment TEXT`,
        ]),
    ...(questions.length === 0
      ? []
      : [`${formatQuestionTable(questions)}\nLook and answer: phaselock questions ID, phaselock answer ID TEXT`]),
    ...(parked.length === 0
      ? []
      : [`${formatParkedTable(parked)}\nLet one go on: phaselock task resume ID --reason TEXT`]),
    ...missingTrees.map(({ detail }) => plainLine(detail)),
    ...stuck.map(formatStuckLine),
    ...(approvals.length + questions.length + parked.length + missingTrees.length + stuck.length === 0
      ? ['  Nothing.']
      : []),
  ].join('\n')
}

// As often as an agent is told to try the same thing.
const STUCK_REFUSALS = 3

function formatStuckLine({ task_id, phase, since, refused_in_a_row: count = 0 }: WorkingAgent): string {
  const id = plainLine(task_id)
  return [
    `${id} is in ${plainLine(phase)} and was refused ${count} times in a row, last at ${formatTime(since)}.`,
    `  See why: phaselock report ${id}. Then tell the agent what to do, or return the task: phaselock task rewind ${id}`,
  ].join('\n')
}

function formatWaitingLine({ task_id, waiting_for_reviewers: names = [] }: WorkingAgent): readonly string[] {
  return names.length === 0 ? [] : [plainLine(`${task_id} is waiting for reviewers: ${names.join(', ')}`)]
}

function formatWaitingTable(tasks: Status['waiting']): string {
  return formatTable(tasks, [
    { title: 'NOT TAKEN', text: ({ id }) => id },
    { title: 'PHASE', text: ({ phase }) => phase },
    { title: 'STATUS', text: ({ status }) => status },
    { title: 'TASK', text: ({ title }) => title, isFlexible: true },
  ])
}

function formatParkedTable(tasks: Status['parked']): string {
  return formatTable(tasks, [
    { title: 'PARKED', text: (details) => details.id },
    { title: 'PHASE', text: (details) => details.phase },
    { title: 'TASK', text: (details) => details.title, isFlexible: true },
    { title: 'WHY', text: (details) => details.parked_reason, isFlexible: true },
  ])
}

function formatAlertTable(alerts: Status['alerts']): string {
  return formatTable(alerts, [
    { title: 'TASK', text: (one) => one.task_id },
    { title: 'ALERT', text: (one) => one.alert },
    { title: 'SINCE', text: (one) => formatTime(one.since) },
    { title: 'MESSAGE', text: (one) => one.message, isFlexible: true },
  ])
}

function nameReport({ completed = 0 }: Readonly<Record<string, number>>): string {
  return completed === 0 ? '' : ' (what the newest did: phaselock report)'
}

function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([status, count]) => `${count} ${status}`)
  return parts.length === 0 ? 'none' : parts.join(', ')
}

/** Which tools an agent has. */
const BINDINGS: Readonly<Record<string, string>> = {
  tools_only: 'Phaselock’s tools',
  native: 'its own tools, under hooks',
  confined: 'Phaselock’s tools, in the sandbox',
}

function formatActiveTable(active: Status['active']): string {
  return formatTable(active, [
    { title: 'TASK', text: (agent) => agent.task_id },
    { title: 'PHASE', text: (agent) => `${agent.phase}${agent.checking ? ' (checking)' : ''}` },
    { title: 'AGENT', text: (agent) => agent.agent_id, isFlexible: true },
    {
      title: 'WORKS WITH',
      text: (agent) => BINDINGS[agent.binding ?? ''] ?? agent.binding?.replaceAll('_', '-') ?? '-',
    },
    { title: 'LAST CHANGE', text: (agent) => formatTime(agent.since) },
  ])
}
