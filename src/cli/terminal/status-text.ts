import type { JsonObject } from '../../core/json.js'
import { formatTime, listOf, toObject, toText } from '../client/answer-values.js'
import { runLines } from '../workflow/run-text.js'
import { formatApprovalTable } from './approval-text.js'
import { toPlainLine } from './plain-text.js'
import { formatQuestionTable } from './question-text.js'
import { formatTable } from './table.js'
import { paintText } from './terminal.js'

/** Everything an operator wants to know at a glance. */
export function formatStatus(status: JsonObject): string {
  const server = toObject(status.server)
  const contract = toObject(status.contract)
  const approvals = listOf(status.approvals)
  const questions = listOf(status.questions)
  const parked = listOf(status.parked)
  const active = listOf(status.active)
  const alerts = listOf(status.alerts)
  const field = (label: string, text: string): string => `${label.padEnd(9)} ${toPlainLine(text)}`
  const name = `${toText(contract.name)} ${toText(contract.version)} (${toText(contract.hash).slice(0, 12)})`
  return [
    field('Server', `${toText(server.url)}, ${toText(server.status)}`),
    field('Contract', name),
    field('Mode', toText(status.mode)),
    ...(status.paused === null ? [] : [field('Paused', `all agents: ${toText(status.paused)}`)]),
    field('Tasks', formatCounts(toObject(toObject(status.tasks).by_status))),
    ...(status.run === null ? [] : ['', paintText('bold', 'Run'), ...runLines(toObject(status.run))]),
    '',
    paintText('bold', 'Working'),
    active.length === 0 ? '  Nobody works on a task.' : formatActiveTable(active),
    ...active.flatMap(formatWaitingLine),
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
    ...(approvals.length + questions.length + parked.length === 0 ? ['  Nothing.'] : []),
  ].join('\n')
}

function formatWaitingLine(one: JsonObject): readonly string[] {
  const names = Array.isArray(one.waiting_for_reviewers) ? one.waiting_for_reviewers.map(toText) : []
  if (names.length === 0) return []
  return [toPlainLine(`${toText(one.task_id)} is waiting for reviewers: ${names.join(', ')}`)]
}

function formatParkedTable(tasks: readonly JsonObject[]): string {
  return formatTable(tasks, [
    { title: 'PARKED', text: (one) => toText(one.id) },
    { title: 'PHASE', text: (one) => toText(one.phase) },
    { title: 'TASK', text: (one) => toText(one.title), isFlexible: true },
    { title: 'WHY', text: (one) => toText(one.parked_reason), isFlexible: true },
  ])
}

function formatAlertTable(alerts: readonly JsonObject[]): string {
  return formatTable(alerts, [
    { title: 'TASK', text: (one) => toText(one.task_id) },
    { title: 'ALERT', text: (one) => toText(one.alert) },
    { title: 'SINCE', text: (one) => formatTime(one.since) },
    { title: 'MESSAGE', text: (one) => toText(one.message), isFlexible: true },
  ])
}

function formatCounts(counts: JsonObject): string {
  const parts = Object.entries(counts).map(([status, count]) => `${toText(count)} ${status}`)
  return parts.length === 0 ? 'none' : parts.join(', ')
}

function formatActiveTable(active: readonly JsonObject[]): string {
  return formatTable(active, [
    { title: 'TASK', text: (one) => toText(one.task_id) },
    { title: 'PHASE', text: (one) => `${toText(one.phase)}${one.checking === true ? ' (checking)' : ''}` },
    { title: 'AGENT', text: (one) => toText(one.agent_id), isFlexible: true },
    { title: 'LAST CHANGE', text: (one) => formatTime(one.since) },
  ])
}
