import type {
  CouncilReport,
  Evidence,
  RefusalRow,
  Report,
  ReportedDecision,
  ReportedIntervention,
  TaskReport,
} from 'phaselock/sdk'
import { formatChannel } from '../../core/approvals/ended-approval.js'
import { plainLine, plainText } from '../../core/plain-text.js'
import { formatCount, formatDuration, formatThousands } from '../../core/text.js'
import { formatTime } from '../client/answer-values.js'
import { formatGradeLegend } from '../terminal/checks-text.js'
import { runText } from '../terminal/evidence-text.js'
import { cut, formatTable } from '../terminal/table.js'
import { getWidth, paintText } from '../terminal/terminal.js'
import { wrapText } from '../workflow/run-text.js'
import { countUsedTokens, formatTokens } from './analyze-text.js'

const LABEL = 10
const ROWS_MAX = 40
const ANSWER_LINES_MAX = 40
const COMMITS_SHOWN = 5
const COMMIT_CHARS = 12
const WORDS_MAX = 10
const WORDS_CHARS_MAX = 400

/** Whether the report is of a task, and not of a council. */
export function isTask(report: Report): report is TaskReport {
  return report.run.kind === 'task'
}

/** How many files a task changed, and lines. */
export interface ChangeTotals {
  readonly files: number
  readonly additions: number
  readonly deletions: number
}

/** What is added to a report of a task. */
interface ReportFound {
  /** Null: unknown. */
  readonly changes: ChangeTotals | null
  /** What was refused, in words, newest last. */
  readonly refusals: readonly string[]
}

/** The report of a run for people, in the width of the terminal. */
export function reportText(report: Report, { changes = null, refusals = [] }: Partial<ReportFound> = {}): string {
  const { id, title, status, finish_reason_details: details, elapsed_seconds } = report.run
  const field = (label: string, text: string): string => cut(`${label.padEnd(LABEL)}${plainLine(text)}`, getWidth())
  const blocks = [
    [
      field(isTask(report) ? 'Task' : 'Run', `${id}  ${title}`),
      field('Status', `${status.replaceAll('_', ' ')}${details ? `: ${details}` : ''}`),
      field('Time', formatDuration(Math.round(elapsed_seconds))),
      ...(changes === null ? [] : [field('Changed', formatChanges(changes))]),
      ...(isTask(report) ? formatCommits(report).map((text) => field('Committed', text)) : []),
      field('Refused', formatRefused(report)),
    ],
    ...(isTask(report) ? formatTaskBlocks(report) : formatCoordinationBlocks(report)),
    formatRefusalBlock(report),
    refusals.slice(-WORDS_MAX).flatMap((text) => wrapText(cut(text, WORDS_CHARS_MAX), '  ').map(mark)),
    report.truncated ? ['The lists are cut; the counts are complete.'] : [],
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function mark(line: string, at: number): string {
  return at === 0 ? `- ${line.trimStart()}` : line
}

function formatChanges({ files, additions, deletions }: ChangeTotals): string {
  return `${formatCount(files, 'file')}, +${formatThousands(additions)} -${formatThousands(deletions)}`
}

/** The commits of a task, shortened as git does; of many the newest. */
export function formatCommits({ commits = [] }: TaskReport): readonly string[] {
  if (commits.length === 0) return []
  const shown = commits.slice(-COMMITS_SHOWN).map(({ commit }) => commit.slice(0, COMMIT_CHARS))
  const more = commits.length - shown.length
  return [`${shown.join(', ')}${more > 0 ? ` and ${more} before` : ''}`]
}

function formatRefused({ refusals, buffer_chars_lost: lost }: Report): string {
  return `${formatCount(refusals.count, 'time')}${lost === 0 ? '' : `, ${formatCount(lost, 'character')} lost to restarts`}`
}

function formatTaskBlocks({
  phases,
  gates,
  evidence,
  approvals = [],
  interventions = [],
}: TaskReport): readonly (readonly string[])[] {
  if (phases.length === 0) return [['Work has not started.']]
  const sheet = formatTable(phases, [
    { title: 'PHASE', text: (phase) => phase.phase, isFlexible: true },
    { title: 'VISITS', text: (phase) => phase.visits },
    { title: 'TIME', text: (phase) => formatDuration(phase.seconds) },
    { title: 'CALLS', text: (phase) => formatThousands(phase.tool_calls) },
    { title: 'REFUSED', text: (phase) => formatThousands(phase.refusals) },
    { title: 'INTERRUPTS', text: (phase) => formatThousands(phase.interrupts) },
    ...(phases.every((phase) => countUsedTokens(phase.tokens) === 0)
      ? []
      : [
          {
            title: 'TOKENS',
            text: (phase: TaskReport['phases'][number]) => formatTokens(phase.tokens),
            isFlexible: true,
          },
        ]),
  ])
  return [
    [sheet],
    formatGateBlock(gates),
    formatApprovalBlock(approvals),
    formatInterventionBlock(interventions),
    formatEvidenceBlock(evidence),
  ]
}

function formatApprovalBlock(approvals: readonly ReportedDecision[]): readonly string[] {
  if (approvals.length === 0) return []
  return [
    formatTable(approvals.slice(-ROWS_MAX), [
      { title: 'DECIDED', text: (one) => (one.decision === 'approve' ? 'approved' : 'rejected') },
      { title: 'GATE', text: (one) => one.gate, isFlexible: true },
      { title: 'OPERATOR', text: (one) => one.by, isFlexible: true },
      { title: 'WHERE', text: (one) => formatChannel(one.channel) },
      { title: 'WHEN', text: (one) => formatTime(one.at) },
    ]),
    ...(approvals.some(({ by }) => by === FIRST_OPERATOR)
      ? [`  ${FIRST_OPERATOR}: the account that started the server`]
      : []),
  ]
}

/** The operator that a server begins with. */
const FIRST_OPERATOR = 'admin'

const ACTS: Readonly<Record<string, string>> = {
  tree_accepted: 'accepted changes',
  tree_reverted: 'reverted changes',
  task_rewound: 'returned the task',
  task_resumed: 'resumed the task',
}

function formatInterventionBlock(interventions: readonly ReportedIntervention[]): readonly string[] {
  if (interventions.length === 0) return []
  return [
    formatTable(interventions.slice(-ROWS_MAX), [
      { title: 'INTERVENED', text: (one) => ACTS[one.type] ?? one.type },
      { title: 'PHASE', text: (one) => one.phase },
      { title: 'OPERATOR', text: (one) => one.by, isFlexible: true },
      { title: 'FILES', text: (one) => one.paths.join(', ') || '-', isFlexible: true },
      { title: 'WHEN', text: (one) => formatTime(one.at) },
    ]),
  ]
}

/** `5 of 6 requests to go on were granted`: one request may pass several gates. */
export function formatPassed({ passed, blocked }: Pick<TaskReport['gates'], 'passed' | 'blocked'>): string {
  return `${formatThousands(passed)} of ${formatCount(passed + blocked, 'request')} to go on ${passed === 1 ? 'was' : 'were'} granted`
}

function formatGateBlock(gates: TaskReport['gates']): readonly string[] {
  const { by_gate } = gates
  if (by_gate.length === 0) return []
  return [
    paintText('bold', formatPassed(gates)),
    formatTable(by_gate.slice(0, ROWS_MAX), [
      { title: 'GATE', text: (one) => one.gate, isFlexible: true },
      { title: 'PASSED', text: (one) => one.passed },
      { title: 'BLOCKED', text: (one) => one.blocked },
    ]),
  ]
}

function formatEvidenceBlock(evidence: readonly Evidence[]): readonly string[] {
  if (evidence.length === 0) return []
  return [
    formatTable(evidence.slice(-ROWS_MAX), [
      { title: 'PHASE', text: (one) => one.phase, isFlexible: true },
      { title: 'EVIDENCE', text: (one) => one.name, isFlexible: true },
      { title: 'GRADE', text: (one) => one.grade },
      { title: 'TESTS', text: (one) => runText(one.run) || '-', isFlexible: true },
    ]),
    ...formatGradeLegend(evidence.slice(-ROWS_MAX)),
  ]
}

function formatCoordinationBlocks(report: CouncilReport): readonly (readonly string[])[] {
  const { agents } = report
  const names = new Map(agents.map(({ id, anonymous_id }) => [id, `${anonymous_id} ${id}`]))
  const nameOf = (id: string): string => names.get(id) ?? id
  const rounds = agents.flatMap(({ id, rounds: own }) => own.map((round) => ({ ...round, agent: nameOf(id) })))
  return [
    formatResultLines(report, nameOf),
    [
      formatTable(agents, [
        { title: 'AGENT', text: (agent) => nameOf(agent.id), isFlexible: true },
        { title: 'STATUS', text: (agent) => agent.status },
        { title: 'ANSWERS', text: (agent) => agent.answers },
        { title: 'REFUSED', text: (agent) => agent.refusals },
        { title: 'LOST', text: (agent) => formatThousands(agent.buffer_chars_lost) },
        { title: 'OUTCOME', text: (agent) => agent.outcome ?? '-' },
        { title: 'ERROR', text: (agent) => agent.error ?? '-', isFlexible: true },
      ]),
    ],
    [
      formatTable(rounds.slice(0, ROWS_MAX), [
        { title: 'AGENT', text: (one) => one.agent, isFlexible: true },
        { title: 'ROUND', text: (one) => one.round },
        { title: 'TIME', text: (one) => `${one.seconds.toFixed(1)}s` },
        { title: 'TOKENS', text: (one) => formatThousands(countUsedTokens(one.tokens)) },
        { title: 'REFUSED FOR', text: (one) => one.reasons.join(', ') || '-', isFlexible: true },
      ]),
    ],
    formatVoteLines(report, nameOf),
  ]
}

function formatResultLines(report: CouncilReport, nameOf: (id: string) => string): readonly string[] {
  const { winner, label, is_tie } = report.result
  if (winner === null) return ['No winner.']
  const answer = report.presentation ?? report.answers.find((one) => one.label === label)
  const lines = plainText(answer?.content).trimEnd().split('\n')
  const left = lines.length - ANSWER_LINES_MAX
  return [
    paintText('bold', plainLine(`Winner: ${nameOf(winner)} with ${label ?? ''}${is_tie ? ', a tie' : ''}`)),
    ...lines.slice(0, ANSWER_LINES_MAX),
    ...(left > 0 ? [`… and ${formatCount(left, 'more line')}; --json shows them`] : []),
  ]
}

function formatVoteLines({ votes }: CouncilReport, nameOf: (id: string) => string): readonly string[] {
  if (votes.length === 0) return []
  return [
    formatTable(votes.slice(0, ROWS_MAX), [
      { title: 'VOTER', text: (one) => nameOf(one.agent), isFlexible: true },
      { title: 'ROUND', text: (one) => one.round },
      { title: 'FOR', text: (one) => one.label },
      { title: 'COUNTS', text: (one) => (one.stands ? 'yes' : 'voided') },
      { title: 'REASON', text: (one) => one.reason || '-', isFlexible: true },
    ]),
  ]
}

function formatRefusalBlock(report: Report): readonly string[] {
  const rows = report.refusals.rows.toSorted((a, b) => b.count - a.count)
  if (rows.length === 0) return []
  const left = rows.length - ROWS_MAX
  return [
    formatTable(rows.slice(0, ROWS_MAX), [
      { title: 'REFUSED', text: (row) => formatThousands(row.count) },
      { title: 'REASON', text: (row) => row.reason },
      { title: 'AGENT', text: (row) => row.agent, isFlexible: true },
      { title: 'PHASE', text: (row) => row.phase || '-', isFlexible: true },
      {
        title: isTask(report) ? 'VISIT' : 'ROUND',
        text: (row) => (isTask(report) ? countVisit(report, row) : row.round),
      },
    ]),
    ...(left > 0 ? [`… and ${formatCount(left, 'more row')}; --json shows them`] : []),
  ]
}

/** Which visit to its phase a refusal fell into: the report numbers the visits of a task through all phases. */
export function countVisit({ visits }: Pick<TaskReport, 'visits'>, { phase, round }: RefusalRow): number | string {
  const count = visits.filter((one) => one.phase === phase && one.visit <= round).length
  return count === 0 ? '-' : count
}
