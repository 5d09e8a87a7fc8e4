import type { CouncilReport, Evidence, Report, TaskReport } from 'phaselock/sdk'
import { plainLine, plainText } from '../../core/plain-text.js'
import { counted, duration, thousands } from '../../core/text.js'
import { runText } from '../terminal/evidence-text.js'
import { cut, table } from '../terminal/table.js'
import { paint, width } from '../terminal/terminal.js'
import { tokensText, usedTokens } from './analyze-text.js'

const LABEL = 10
const ROWS_MAX = 40
const ANSWER_LINES_MAX = 40

/** Whether the report is of a task, and not of a council. */
export function isTask(report: Report): report is TaskReport {
  return report.run.kind === 'task'
}

/** The report of a run for people, in the width of the terminal. */
export function reportText(report: Report): string {
  const { id, title, status, finish_reason_details: details, elapsed_seconds } = report.run
  const field = (label: string, text: string): string => cut(`${label.padEnd(LABEL)}${plainLine(text)}`, width())
  const blocks = [
    [
      field(isTask(report) ? 'Task' : 'Run', `${id}  ${title}`),
      field('Status', `${status.replaceAll('_', ' ')}${details ? `: ${details}` : ''}`),
      field('Time', duration(Math.round(elapsed_seconds))),
      field('Refused', refusedText(report)),
    ],
    ...(isTask(report) ? taskBlocks(report) : coordinationBlocks(report)),
    refusalBlock(report),
    report.truncated ? ['There was more than is listed here; the counts are of all.'] : [],
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function refusedText({ refusals, buffer_chars_lost: lost }: Report): string {
  return `${counted(refusals.count, 'time')}${lost === 0 ? '' : `, ${counted(lost, 'character')} lost to restarts`}`
}

function taskBlocks({ phases, gates, evidence }: TaskReport): readonly (readonly string[])[] {
  if (phases.length === 0) return [['Nobody has begun with it.']]
  const sheet = table(phases, [
    { title: 'PHASE', text: (one) => one.phase, isFlexible: true },
    { title: 'VISITS', text: (one) => one.visits },
    { title: 'TIME', text: (one) => duration(one.seconds) },
    { title: 'CALLS', text: (one) => thousands(one.tool_calls) },
    { title: 'REFUSED', text: (one) => thousands(one.refusals) },
    { title: 'STOPS', text: (one) => thousands(one.interrupts) },
    { title: 'TOKENS', text: (one) => tokensText(one.tokens), isFlexible: true },
  ])
  return [[sheet], gateBlock(gates), evidenceBlock(evidence)]
}

function gateBlock({ by_gate, pass_rate }: TaskReport['gates']): readonly string[] {
  if (by_gate.length === 0) return []
  const rate = pass_rate === null ? 'none' : `${Math.round(pass_rate * 100)} %`
  return [
    paint('bold', `Gates: ${rate} passed`),
    table(by_gate.slice(0, ROWS_MAX), [
      { title: 'GATE', text: (one) => one.gate, isFlexible: true },
      { title: 'PASSED', text: (one) => one.passed },
      { title: 'BLOCKED', text: (one) => one.blocked },
    ]),
  ]
}

function evidenceBlock(evidence: readonly Evidence[]): readonly string[] {
  if (evidence.length === 0) return []
  return [
    table(evidence.slice(-ROWS_MAX), [
      { title: 'PHASE', text: (one) => one.phase, isFlexible: true },
      { title: 'EVIDENCE', text: (one) => one.name, isFlexible: true },
      { title: 'GRADE', text: (one) => one.grade },
      { title: 'TESTS', text: (one) => runText(one.run) || '-', isFlexible: true },
    ]),
  ]
}

function coordinationBlocks(report: CouncilReport): readonly (readonly string[])[] {
  const { agents } = report
  const names = new Map(agents.map(({ id, anonymous_id }) => [id, `${anonymous_id} ${id}`]))
  const nameOf = (id: string): string => names.get(id) ?? id
  const rounds = agents.flatMap(({ id, rounds: own }) => own.map((round) => ({ ...round, agent: nameOf(id) })))
  return [
    resultLines(report, nameOf),
    [
      table(agents, [
        { title: 'AGENT', text: (one) => nameOf(one.id), isFlexible: true },
        { title: 'STATUS', text: (one) => one.status },
        { title: 'ANSWERS', text: (one) => one.answers },
        { title: 'REFUSED', text: (one) => one.refusals },
        { title: 'LOST', text: (one) => thousands(one.buffer_chars_lost) },
        { title: 'OUTCOME', text: (one) => one.outcome ?? '-' },
        { title: 'ERROR', text: (one) => one.error ?? '-', isFlexible: true },
      ]),
    ],
    [
      table(rounds.slice(0, ROWS_MAX), [
        { title: 'AGENT', text: (one) => one.agent, isFlexible: true },
        { title: 'ROUND', text: (one) => one.round },
        { title: 'TIME', text: (one) => `${one.seconds.toFixed(1)}s` },
        { title: 'TOKENS', text: (one) => thousands(usedTokens(one.tokens)) },
        { title: 'REFUSED FOR', text: (one) => one.reasons.join(', ') || '-', isFlexible: true },
      ]),
    ],
    voteLines(report, nameOf),
  ]
}

function resultLines(report: CouncilReport, nameOf: (id: string) => string): readonly string[] {
  const { winner, label, is_tie } = report.result
  if (winner === null) return ['No winner.']
  const answer = report.presentation ?? report.answers.find((one) => one.label === label)
  const lines = plainText(answer?.content).trimEnd().split('\n')
  const left = lines.length - ANSWER_LINES_MAX
  return [
    paint('bold', plainLine(`Winner: ${nameOf(winner)} with ${label ?? ''}${is_tie ? ', a tie' : ''}`)),
    ...lines.slice(0, ANSWER_LINES_MAX),
    ...(left > 0 ? [`… and ${counted(left, 'more line')}; --json shows them`] : []),
  ]
}

function voteLines({ votes }: CouncilReport, nameOf: (id: string) => string): readonly string[] {
  if (votes.length === 0) return []
  return [
    table(votes.slice(0, ROWS_MAX), [
      { title: 'VOTER', text: (one) => nameOf(one.agent), isFlexible: true },
      { title: 'ROUND', text: (one) => one.round },
      { title: 'FOR', text: (one) => one.label },
      { title: 'COUNTS', text: (one) => (one.stands ? 'yes' : 'voided') },
      { title: 'REASON', text: (one) => one.reason || '-', isFlexible: true },
    ]),
  ]
}

function refusalBlock(report: Report): readonly string[] {
  const rows = report.refusals.rows.toSorted((a, b) => b.count - a.count)
  if (rows.length === 0) return []
  const left = rows.length - ROWS_MAX
  return [
    table(rows.slice(0, ROWS_MAX), [
      { title: 'REFUSED', text: (one) => thousands(one.count) },
      { title: 'REASON', text: (one) => one.reason },
      { title: 'AGENT', text: (one) => one.agent, isFlexible: true },
      { title: 'PHASE', text: (one) => one.phase || '-', isFlexible: true },
      { title: isTask(report) ? 'VISIT' : 'ROUND', text: (one) => one.round },
    ]),
    ...(left > 0 ? [`… and ${counted(left, 'more row')}; --json shows them`] : []),
  ]
}
