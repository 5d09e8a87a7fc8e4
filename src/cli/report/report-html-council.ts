import type { CouncilAgent, CouncilAnswer, CouncilReport, CouncilRound } from 'phaselock/sdk'
import { formatCount, formatThousands } from '../../core/text.js'
import { countUsedTokens, formatTokens } from './analyze-text.js'
import { renderTable } from './report-html-parts.js'
import { html, type Markup } from './report-markup.js'
import { renderBarsPlot, renderMomentsPlot } from './report-plots.js'

const ROUNDS_SHOWN_MAX = 20

const KINDS: Readonly<Record<string, string>> = {
  turn_began: 'turn began',
  answer_accepted: 'answer',
  vote_cast: 'vote',
  vote_asked_again: 'vote asked again',
  response_rejected: 'refusal',
  agent_stopped: 'gone',
  agent_failed: 'gone',
  agent_timed_out: 'gone',
}

/** The parts specific to a council: its result, answers, votes, and what each agent did in each round. */
export function renderCoordinationSections(report: CouncilReport): Markup {
  const { agents } = report
  const named = new Map(agents.map(({ id, anonymous_id }) => [id, `${anonymous_id} ${id}`]))
  const nameOf = (id: string): string => named.get(id) ?? id
  return html`${resultSection(report, nameOf)}
${renderTimelineSection(report, [...named.values()], nameOf)}
${renderAgentSection(agents, nameOf)}
${answerSection(report, nameOf)}
${voteSection(report, nameOf)}`
}

type NameOf = (id: string) => string

function resultSection({ result, presentation, answers }: CouncilReport, nameOf: NameOf): Markup {
  const { winner, label } = result
  if (winner === null) return html`<section><h2>Result</h2><p>There is no winner.</p></section>`
  const answer = presentation ?? answers.find((one) => one.label === label)
  const tie = result.is_tie ? ' It was a tie.' : ''
  return html`<section><h2>Result</h2>
<p>${nameOf(winner)} won with ${label}.${tie}</p>
<pre>${answer?.content}</pre>${cutNote(answer)}</section>`
}

function renderTimelineSection(report: CouncilReport, rows: readonly string[], nameOf: NameOf): Markup {
  const moments = report.timeline.flatMap(({ type, agent, seconds }) => {
    const kind = KINDS[type]
    return kind === undefined || agent === null ? [] : [{ row: nameOf(agent), kind, seconds }]
  })
  return moments.length === 0
    ? html``
    : html`<section><h2>Timeline</h2>${renderMomentsPlot({ title: 'What each agent did when', rows, kinds: [...new Set(Object.values(KINDS))], moments })}</section>`
}

function renderAgentSection(agents: readonly CouncilAgent[], nameOf: NameOf): Markup {
  const names = agents.map((agent) => nameOf(agent.id))
  const most = Math.max(0, ...agents.map((agent) => agent.rounds.length))
  const rounds = Array.from({ length: Math.min(most, ROUNDS_SHOWN_MAX) }, (_, at) => at)
  const valueAt = (round: CouncilRound | undefined, value: (round: CouncilRound) => number): number =>
    round === undefined ? 0 : value(round)
  const series = (value: (round: CouncilRound) => number) =>
    rounds.map((at) => ({
      name: `round ${at + 1}`,
      values: agents.map((agent) => valueAt(agent.rounds[at], value)),
    }))
  const isCounted = agents.some((agent) => countUsedTokens(agent.tokens) > 0)
  const all = agents.flatMap(({ id, rounds: own }) => own.map((round) => ({ ...round, agent: nameOf(id) })))
  return html`<section><h2>Agents and rounds</h2>
${renderBarsPlot({ title: 'Time in turns by agent and round', unit: 'seconds', rows: names, series: series((one) => one.seconds) })}
${
  isCounted
    ? renderBarsPlot({
        ...{ title: 'Tokens by agent and round', unit: 'tokens', rows: names },
        series: series((one) => countUsedTokens(one.tokens)),
      })
    : html`<p class="dim">No tokens were counted.</p>`
}
${renderTable(agents, [
  { title: 'Agent', cell: (agent) => nameOf(agent.id) },
  {
    title: 'Status',
    cell: (agent) => agent.status + (agent.error === null ? '' : `: ${agent.error}`),
  },
  { title: 'Answers', isNumber: true, cell: (agent) => agent.answers },
  { title: 'Refusals', isNumber: true, cell: (agent) => formatThousands(agent.refusals) },
  { title: 'Characters lost', isNumber: true, cell: (agent) => formatThousands(agent.buffer_chars_lost) },
  { title: 'Unknown tools', cell: (agent) => agent.unknown_tools.join(', ') },
  { title: 'Tokens', cell: (agent) => formatTokens(agent.tokens) },
])}
${renderTable(all, [
  { title: 'Agent', cell: (one) => one.agent },
  { title: 'Round', isNumber: true, cell: (one) => one.round },
  { title: 'Seconds', isNumber: true, cell: (one) => one.seconds.toFixed(1) },
  { title: 'Tokens', isNumber: true, cell: (one) => formatThousands(countUsedTokens(one.tokens)) },
  { title: 'Refusals', isNumber: true, cell: (one) => one.refusals },
  { title: 'Reasons', cell: (one) => one.reasons.join(', ') },
])}</section>`
}

function answerSection({ answers }: CouncilReport, nameOf: NameOf): Markup {
  if (answers.length === 0) return html`<section><h2>Answers</h2><p>There are no answers.</p></section>`
  const shown = answers.map((answer) => {
    const verdict = answer.verdict ?? ''
    const about = `${nameOf(answer.agent)}, round ${answer.round}, ${formatCount(answer.chars, 'character')}`
    return html`<details><summary>${answer.label} <span class="dim">${about}${verdict === '' ? '' : `, ${verdict}`}</span></summary>
<pre>${answer.content}</pre>${cutNote(answer)}</details>
`
  })
  return html`<section><h2>Answers</h2>${shown}</section>`
}

function cutNote(answer: Pick<CouncilAnswer, 'chars' | 'is_cut'> | undefined): Markup {
  return answer?.is_cut === true ? html`<p class="dim">Only the beginning is shown.</p>` : html``
}

function voteSection({ votes }: CouncilReport, nameOf: NameOf): Markup {
  if (votes.length === 0) return html`<section><h2>Votes</h2><p>Nobody voted.</p></section>`
  return html`<section><h2>Votes</h2>${renderTable(votes, [
    { title: 'Agent', cell: (vote) => nameOf(vote.agent) },
    { title: 'Round', isNumber: true, cell: (vote) => vote.round },
    { title: 'For', cell: (vote) => vote.label },
    { title: 'Counts', cell: (vote) => (vote.stands ? 'yes' : 'no, voided by an answer') },
    { title: 'Reason', cell: (vote) => vote.reason },
  ])}</section>`
}
