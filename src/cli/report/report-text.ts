import type { Json, JsonObject } from '../../core/json.js'
import { counted, thousands } from '../../core/text.js'
import { listOf, objectOf, textOf } from '../client/answer-values.js'
import { runText } from '../terminal/evidence-text.js'
import { plainLine, plainText } from '../terminal/plain-text.js'
import { cut, table } from '../terminal/table.js'
import { paint, width } from '../terminal/terminal.js'
import { durationText } from '../workflow/run-text.js'
import { numberOf, tokensText, usedTokens } from './analyze-text.js'

const LABEL = 10
const ROWS_MAX = 40
const ANSWER_LINES_MAX = 40

/** The report of a run for people, in the width of the terminal. */
export function reportText(report: JsonObject): string {
  const run = objectOf(report.run)
  const isTask = run.kind === 'task'
  const details = textOf(run.finish_reason_details)
  const field = (label: string, text: string): string => cut(`${label.padEnd(LABEL)}${plainLine(text)}`, width())
  const head = [
    field(isTask ? 'Task' : 'Run', `${textOf(run.id)}  ${textOf(run.title)}`),
    field('Status', `${textOf(run.status).replaceAll('_', ' ')}${details === '' ? '' : `: ${details}`}`),
    field('Time', durationText(Math.round(numberOf(run.elapsed_seconds)))),
    field('Refused', refusedText(report)),
  ]
  const blocks = [
    head,
    ...(isTask ? taskBlocks(report) : coordinationBlocks(report)),
    refusalBlock(report),
    report.truncated === true ? ['There was more than is listed here; the counts are of all.'] : [],
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function refusedText(report: JsonObject): string {
  const count = numberOf(objectOf(report.refusals).count)
  const lost = numberOf(report.buffer_chars_lost)
  return `${counted(count, 'time')}${lost === 0 ? '' : `, ${counted(lost, 'character')} lost to restarts`}`
}

function taskBlocks(report: JsonObject): readonly (readonly string[])[] {
  const phases = listOf(report.phases)
  if (phases.length === 0) return [['Nobody has begun with it.']]
  const gates = objectOf(report.gates)
  const sheet = table(phases, [
    { title: 'PHASE', text: (one) => textOf(one.phase), isFlexible: true },
    { title: 'VISITS', text: (one) => textOf(one.visits) },
    { title: 'TIME', text: (one) => durationText(numberOf(one.seconds)) },
    { title: 'CALLS', text: (one) => thousands(numberOf(one.tool_calls)) },
    { title: 'REFUSED', text: (one) => thousands(numberOf(one.refusals)) },
    { title: 'STOPS', text: (one) => thousands(numberOf(one.interrupts)) },
    { title: 'TOKENS', text: (one) => tokensText(objectOf(one.tokens)), isFlexible: true },
  ])
  const byGate = listOf(gates.by_gate)
  const tried =
    byGate.length === 0
      ? []
      : [
          paint('bold', `Gates: ${percentText(gates.pass_rate)} passed`),
          table(byGate.slice(0, ROWS_MAX), [
            { title: 'GATE', text: (one) => textOf(one.gate), isFlexible: true },
            { title: 'PASSED', text: (one) => textOf(one.passed) },
            { title: 'BLOCKED', text: (one) => textOf(one.blocked) },
          ]),
        ]
  return [[sheet], tried, evidenceBlock(listOf(report.evidence))]
}

function evidenceBlock(evidence: readonly JsonObject[]): readonly string[] {
  if (evidence.length === 0) return []
  return [
    table(evidence.slice(-ROWS_MAX), [
      { title: 'PHASE', text: (one) => textOf(one.phase), isFlexible: true },
      { title: 'EVIDENCE', text: (one) => textOf(one.name), isFlexible: true },
      { title: 'GRADE', text: (one) => textOf(one.grade) },
      { title: 'TESTS', text: (one) => runText(objectOf(one.run)) || '-', isFlexible: true },
    ]),
  ]
}

function percentText(rate: Json | undefined): string {
  return typeof rate === 'number' ? `${Math.round(rate * 100)} %` : 'none'
}

function coordinationBlocks(report: JsonObject): readonly (readonly string[])[] {
  const agents = listOf(report.agents)
  const names = new Map(agents.map((one) => [textOf(one.id), `${textOf(one.anonymous_id)} ${textOf(one.id)}`]))
  const nameOf = (id: string): string => names.get(id) ?? id
  const rounds = agents.flatMap((agent) =>
    listOf(agent.rounds).map((round): JsonObject => ({ ...round, agent: nameOf(textOf(agent.id)) })),
  )
  return [
    resultLines(report, nameOf),
    [
      table(agents, [
        { title: 'AGENT', text: (one) => nameOf(textOf(one.id)), isFlexible: true },
        { title: 'STATUS', text: (one) => textOf(one.status) },
        { title: 'ANSWERS', text: (one) => textOf(one.answers) },
        { title: 'REFUSED', text: (one) => textOf(one.refusals) },
        { title: 'LOST', text: (one) => thousands(numberOf(one.buffer_chars_lost)) },
        { title: 'OUTCOME', text: (one) => textOf(one.outcome) || '-' },
        { title: 'ERROR', text: (one) => textOf(one.error) || '-', isFlexible: true },
      ]),
    ],
    [
      table(rounds.slice(0, ROWS_MAX), [
        { title: 'AGENT', text: (one) => textOf(one.agent), isFlexible: true },
        { title: 'ROUND', text: (one) => textOf(one.round) },
        { title: 'TIME', text: (one) => `${numberOf(one.seconds).toFixed(1)}s` },
        { title: 'TOKENS', text: (one) => thousands(usedTokens(objectOf(one.tokens))) },
        { title: 'REFUSED FOR', text: (one) => textOf(one.reasons) || '-', isFlexible: true },
      ]),
    ],
    voteLines(report, nameOf),
  ]
}

function resultLines(report: JsonObject, nameOf: (id: string) => string): readonly string[] {
  const result = objectOf(report.result)
  const winner = textOf(result.winner)
  if (winner === '') return ['No winner.']
  const presented = objectOf(report.presentation)
  const answer =
    presented.content === undefined ? listOf(report.answers).find((one) => one.label === result.label) : presented
  const lines = plainText(textOf(answer?.content)).trimEnd().split('\n')
  const left = lines.length - ANSWER_LINES_MAX
  return [
    paint(
      'bold',
      plainLine(`Winner: ${nameOf(winner)} with ${textOf(result.label)}${result.is_tie === true ? ', a tie' : ''}`),
    ),
    ...lines.slice(0, ANSWER_LINES_MAX),
    ...(left > 0 ? [`… and ${counted(left, 'more line')}; --json shows them`] : []),
  ]
}

function voteLines(report: JsonObject, nameOf: (id: string) => string): readonly string[] {
  const votes = listOf(report.votes)
  if (votes.length === 0) return []
  return [
    table(votes.slice(0, ROWS_MAX), [
      { title: 'VOTER', text: (one) => nameOf(textOf(one.agent)), isFlexible: true },
      { title: 'ROUND', text: (one) => textOf(one.round) },
      { title: 'FOR', text: (one) => textOf(one.label) },
      { title: 'COUNTS', text: (one) => (one.stands === true ? 'yes' : 'voided') },
      { title: 'REASON', text: (one) => textOf(one.reason) || '-', isFlexible: true },
    ]),
  ]
}

function refusalBlock(report: JsonObject): readonly string[] {
  const rows = listOf(objectOf(report.refusals).rows).toSorted((a, b) => numberOf(b.count) - numberOf(a.count))
  if (rows.length === 0) return []
  const left = rows.length - ROWS_MAX
  return [
    table(rows.slice(0, ROWS_MAX), [
      { title: 'REFUSED', text: (one) => thousands(numberOf(one.count)) },
      { title: 'REASON', text: (one) => textOf(one.reason) },
      { title: 'AGENT', text: (one) => textOf(one.agent), isFlexible: true },
      { title: 'PHASE', text: (one) => textOf(one.phase) || '-', isFlexible: true },
      { title: objectOf(report.run).kind === 'task' ? 'VISIT' : 'ROUND', text: (one) => textOf(one.round) },
    ]),
    ...(left > 0 ? [`… and ${counted(left, 'more row')}; --json shows them`] : []),
  ]
}
