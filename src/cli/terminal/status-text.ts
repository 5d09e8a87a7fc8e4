import type { JsonObject } from '../../core/json.js'
import { listOf, objectOf, textOf, timeOf } from '../client/answer-values.js'
import { runLines } from '../workflow/run-text.js'
import { approvalTable } from './approval-text.js'
import { plainLine } from './plain-text.js'
import { questionTable } from './question-text.js'
import { table } from './table.js'
import { paint } from './terminal.js'

/** Everything an operator wants to know at a glance. */
export function statusText(status: JsonObject): string {
  const server = objectOf(status.server)
  const contract = objectOf(status.contract)
  const approvals = listOf(status.approvals)
  const questions = listOf(status.questions)
  const parked = listOf(status.parked)
  const active = listOf(status.active)
  const alerts = listOf(status.alerts)
  const field = (label: string, text: string): string => `${label.padEnd(9)} ${plainLine(text)}`
  const name = `${textOf(contract.name)} ${textOf(contract.version)} (${textOf(contract.hash).slice(0, 12)})`
  return [
    field('Server', `${textOf(server.url)}, ${textOf(server.status)}`),
    field('Contract', name),
    field('Mode', textOf(status.mode)),
    ...(status.paused === null ? [] : [field('Paused', `all agents: ${textOf(status.paused)}`)]),
    field('Tasks', countsText(objectOf(objectOf(status.tasks).by_status))),
    ...(status.run === null ? [] : ['', paint('bold', 'Run'), ...runLines(objectOf(status.run))]),
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

function waitingLine(one: JsonObject): readonly string[] {
  const names = Array.isArray(one.waiting_for_reviewers) ? one.waiting_for_reviewers.map(textOf) : []
  if (names.length === 0) return []
  return [plainLine(`${textOf(one.task_id)} is waiting for reviewers: ${names.join(', ')}`)]
}

function parkedTable(tasks: readonly JsonObject[]): string {
  return table(tasks, [
    { title: 'PARKED', text: (one) => textOf(one.id) },
    { title: 'PHASE', text: (one) => textOf(one.phase) },
    { title: 'TASK', text: (one) => textOf(one.title), isFlexible: true },
    { title: 'WHY', text: (one) => textOf(one.parked_reason), isFlexible: true },
  ])
}

function alertTable(alerts: readonly JsonObject[]): string {
  return table(alerts, [
    { title: 'TASK', text: (one) => textOf(one.task_id) },
    { title: 'ALERT', text: (one) => textOf(one.alert) },
    { title: 'SINCE', text: (one) => timeOf(one.since) },
    { title: 'MESSAGE', text: (one) => textOf(one.message), isFlexible: true },
  ])
}

function countsText(counts: JsonObject): string {
  const parts = Object.entries(counts).map(([status, count]) => `${textOf(count)} ${status}`)
  return parts.length === 0 ? 'none' : parts.join(', ')
}

function activeTable(active: readonly JsonObject[]): string {
  return table(active, [
    { title: 'TASK', text: (one) => textOf(one.task_id) },
    { title: 'PHASE', text: (one) => `${textOf(one.phase)}${one.checking === true ? ' (checking)' : ''}` },
    { title: 'AGENT', text: (one) => textOf(one.agent_id), isFlexible: true },
    { title: 'LAST CHANGE', text: (one) => timeOf(one.since) },
  ])
}
