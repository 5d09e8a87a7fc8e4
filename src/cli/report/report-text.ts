import type { Json, JsonObject } from '../../core/json.js'
import { formatCount, formatThousands } from '../../core/text.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { runText } from '../terminal/evidence-text.js'
import { toPlainLine, toPlainText } from '../terminal/plain-text.js'
import { cut, formatTable } from '../terminal/table.js'
import { getWidth, paintText } from '../terminal/terminal.js'
import { formatDuration } from '../workflow/run-text.js'
import { countUsedTokens, formatTokens, toNumber } from './analyze-text.js'

const LABEL = 10
const ROWS_MAX = 40
const ANSWER_LINES_MAX = 40

/** The report of a run for people, in the width of the terminal. */
export function reportText(report: JsonObject): string {
  const run = toObject(report.run)
  const isTask = run.kind === 'task'
  const details = toText(run.finish_reason_details)
  const field = (label: string, text: string): string => cut(`${label.padEnd(LABEL)}${toPlainLine(text)}`, getWidth())
  const head = [
    field(isTask ? 'Task' : 'Run', `${toText(run.id)}  ${toText(run.title)}`),
    field('Status', `${toText(run.status).replaceAll('_', ' ')}${details === '' ? '' : `: ${details}`}`),
    field('Time', formatDuration(Math.round(toNumber(run.elapsed_seconds)))),
    field('Refused', formatRefused(report)),
  ]
  const blocks = [
    head,
    ...(isTask ? formatTaskBlocks(report) : formatCoordinationBlocks(report)),
    formatRefusalBlock(report),
    report.truncated === true ? ['There was more than is listed here; the counts are of all.'] : [],
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function formatRefused(report: JsonObject): string {
  const count = toNumber(toObject(report.refusals).count)
  const lost = toNumber(report.buffer_chars_lost)
  return `${formatCount(count, 'time')}${lost === 0 ? '' : `, ${formatCount(lost, 'character')} lost to restarts`}`
}

function formatTaskBlocks(report: JsonObject): readonly (readonly string[])[] {
  const phases = listOf(report.phases)
  if (phases.length === 0) return [['Nobody has begun with it.']]
  const gates = toObject(report.gates)
  const sheet = formatTable(phases, [
    { title: 'PHASE', text: (one) => toText(one.phase), isFlexible: true },
    { title: 'VISITS', text: (one) => toText(one.visits) },
    { title: 'TIME', text: (one) => formatDuration(toNumber(one.seconds)) },
    { title: 'CALLS', text: (one) => formatThousands(toNumber(one.tool_calls)) },
    { title: 'REFUSED', text: (one) => formatThousands(toNumber(one.refusals)) },
    { title: 'STOPS', text: (one) => formatThousands(toNumber(one.interrupts)) },
    { title: 'TOKENS', text: (one) => formatTokens(toObject(one.tokens)), isFlexible: true },
  ])
  const byGate = listOf(gates.by_gate)
  const tried =
    byGate.length === 0
      ? []
      : [
          paintText('bold', `Gates: ${formatPercent(gates.pass_rate)} passed`),
          formatTable(byGate.slice(0, ROWS_MAX), [
            { title: 'GATE', text: (one) => toText(one.gate), isFlexible: true },
            { title: 'PASSED', text: (one) => toText(one.passed) },
            { title: 'BLOCKED', text: (one) => toText(one.blocked) },
          ]),
        ]
  return [[sheet], tried, formatEvidenceBlock(listOf(report.evidence))]
}

function formatEvidenceBlock(evidence: readonly JsonObject[]): readonly string[] {
  if (evidence.length === 0) return []
  return [
    formatTable(evidence.slice(-ROWS_MAX), [
      { title: 'PHASE', text: (one) => toText(one.phase), isFlexible: true },
      { title: 'EVIDENCE', text: (one) => toText(one.name), isFlexible: true },
      { title: 'GRADE', text: (one) => toText(one.grade) },
      { title: 'TESTS', text: (one) => runText(toObject(one.run)) || '-', isFlexible: true },
    ]),
  ]
}

function formatPercent(rate: Json | undefined): string {
  return typeof rate === 'number' ? `${Math.round(rate * 100)} %` : 'none'
}

function formatCoordinationBlocks(report: JsonObject): readonly (readonly string[])[] {
  const agents = listOf(report.agents)
  const names = new Map(agents.map((one) => [toText(one.id), `${toText(one.anonymous_id)} ${toText(one.id)}`]))
  const nameOf = (id: string): string => names.get(id) ?? id
  const rounds = agents.flatMap((agent) =>
    listOf(agent.rounds).map((round): JsonObject => ({ ...round, agent: nameOf(toText(agent.id)) })),
  )
  return [
    formatResultLines(report, nameOf),
    [
      formatTable(agents, [
        { title: 'AGENT', text: (one) => nameOf(toText(one.id)), isFlexible: true },
        { title: 'STATUS', text: (one) => toText(one.status) },
        { title: 'ANSWERS', text: (one) => toText(one.answers) },
        { title: 'REFUSED', text: (one) => toText(one.refusals) },
        { title: 'LOST', text: (one) => formatThousands(toNumber(one.buffer_chars_lost)) },
        { title: 'OUTCOME', text: (one) => toText(one.outcome) || '-' },
        { title: 'ERROR', text: (one) => toText(one.error) || '-', isFlexible: true },
      ]),
    ],
    [
      formatTable(rounds.slice(0, ROWS_MAX), [
        { title: 'AGENT', text: (one) => toText(one.agent), isFlexible: true },
        { title: 'ROUND', text: (one) => toText(one.round) },
        { title: 'TIME', text: (one) => `${toNumber(one.seconds).toFixed(1)}s` },
        { title: 'TOKENS', text: (one) => formatThousands(countUsedTokens(toObject(one.tokens))) },
        { title: 'REFUSED FOR', text: (one) => toText(one.reasons) || '-', isFlexible: true },
      ]),
    ],
    formatVoteLines(report, nameOf),
  ]
}

function formatResultLines(report: JsonObject, nameOf: (id: string) => string): readonly string[] {
  const result = toObject(report.result)
  const winner = toText(result.winner)
  if (winner === '') return ['No winner.']
  const presented = toObject(report.presentation)
  const answer =
    presented.content === undefined ? listOf(report.answers).find((one) => one.label === result.label) : presented
  const lines = toPlainText(toText(answer?.content)).trimEnd().split('\n')
  const left = lines.length - ANSWER_LINES_MAX
  return [
    paintText(
      'bold',
      toPlainLine(`Winner: ${nameOf(winner)} with ${toText(result.label)}${result.is_tie === true ? ', a tie' : ''}`),
    ),
    ...lines.slice(0, ANSWER_LINES_MAX),
    ...(left > 0 ? [`… and ${formatCount(left, 'more line')}; --json shows them`] : []),
  ]
}

function formatVoteLines(report: JsonObject, nameOf: (id: string) => string): readonly string[] {
  const votes = listOf(report.votes)
  if (votes.length === 0) return []
  return [
    formatTable(votes.slice(0, ROWS_MAX), [
      { title: 'VOTER', text: (one) => nameOf(toText(one.agent)), isFlexible: true },
      { title: 'ROUND', text: (one) => toText(one.round) },
      { title: 'FOR', text: (one) => toText(one.label) },
      { title: 'COUNTS', text: (one) => (one.stands === true ? 'yes' : 'voided') },
      { title: 'REASON', text: (one) => toText(one.reason) || '-', isFlexible: true },
    ]),
  ]
}

function formatRefusalBlock(report: JsonObject): readonly string[] {
  const rows = listOf(toObject(report.refusals).rows).toSorted((a, b) => toNumber(b.count) - toNumber(a.count))
  if (rows.length === 0) return []
  const left = rows.length - ROWS_MAX
  return [
    formatTable(rows.slice(0, ROWS_MAX), [
      { title: 'REFUSED', text: (one) => formatThousands(toNumber(one.count)) },
      { title: 'REASON', text: (one) => toText(one.reason) },
      { title: 'AGENT', text: (one) => toText(one.agent), isFlexible: true },
      { title: 'PHASE', text: (one) => toText(one.phase) || '-', isFlexible: true },
      { title: toObject(report.run).kind === 'task' ? 'VISIT' : 'ROUND', text: (one) => toText(one.round) },
    ]),
    ...(left > 0 ? [`… and ${formatCount(left, 'more row')}; --json shows them`] : []),
  ]
}
