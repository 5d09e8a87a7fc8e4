import type { JsonObject } from '../../core/json.js'
import { formatCount, formatThousands } from '../../core/text.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { countUsedTokens, formatTokens, toNumber } from './analyze-text.js'
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

/** What is particular to a coordination: its result, answers, votes, and what each agent did in each round. */
export function renderCoordinationSections(report: JsonObject): Markup {
  const agents = listOf(report.agents)
  const named = new Map(agents.map((agent) => [toText(agent.id), `${toText(agent.anonymous_id)} ${toText(agent.id)}`]))
  const nameOf = (id: string): string => named.get(id) ?? id
  return html`${resultSection(report, nameOf)}
${renderTimelineSection(report, [...named.values()], nameOf)}
${renderAgentSection(agents, nameOf)}
${answerSection(report, nameOf)}
${voteSection(report, nameOf)}`
}

type NameOf = (id: string) => string

function resultSection(report: JsonObject, nameOf: NameOf): Markup {
  const result = toObject(report.result)
  const winner = toText(result.winner)
  if (winner === '') return html`<section><h2>Result</h2><p>There is no winner.</p></section>`
  const presented = toObject(report.presentation)
  const answer =
    presented.content === undefined
      ? (listOf(report.answers).find((one) => one.label === result.label) ?? {})
      : presented
  const tie = result.is_tie === true ? ' It was a tie.' : ''
  return html`<section><h2>Result</h2>
<p>${nameOf(winner)} won with ${toText(result.label)}.${tie}</p>
<pre>${toText(answer.content)}</pre>${cutNote(answer)}</section>`
}

function renderTimelineSection(report: JsonObject, rows: readonly string[], nameOf: NameOf): Markup {
  const moments = listOf(report.timeline).flatMap((one) => {
    const kind = KINDS[toText(one.type)]
    const agent = toText(one.agent)
    return kind === undefined || agent === '' ? [] : [{ row: nameOf(agent), kind, seconds: toNumber(one.seconds) }]
  })
  return moments.length === 0
    ? html``
    : html`<section><h2>Timeline</h2>${renderMomentsPlot({ title: 'What each agent did when', rows, kinds: [...new Set(Object.values(KINDS))], moments })}</section>`
}

function renderAgentSection(agents: readonly JsonObject[], nameOf: NameOf): Markup {
  const names = agents.map((agent) => nameOf(toText(agent.id)))
  const most = Math.max(0, ...agents.map((agent) => listOf(agent.rounds).length))
  const rounds = Array.from({ length: Math.min(most, ROUNDS_SHOWN_MAX) }, (_, at) => at)
  const series = (value: (round: JsonObject) => number) =>
    rounds.map((at) => ({
      name: `round ${at + 1}`,
      values: agents.map((agent) => value(listOf(agent.rounds)[at] ?? {})),
    }))
  const isCounted = agents.some((agent) => countUsedTokens(toObject(agent.tokens)) > 0)
  const all = agents.flatMap((agent) =>
    listOf(agent.rounds).map((round): JsonObject => ({ ...round, agent: nameOf(toText(agent.id)) })),
  )
  return html`<section><h2>Agents and rounds</h2>
${renderBarsPlot({ title: 'Time in turns by agent and round', unit: 'seconds', rows: names, series: series((one) => toNumber(one.seconds)) })}
${
  isCounted
    ? renderBarsPlot({
        ...{ title: 'Tokens by agent and round', unit: 'tokens', rows: names },
        series: series((one) => countUsedTokens(toObject(one.tokens))),
      })
    : html`<p class="dim">No tokens were counted.</p>`
}
${renderTable(agents, [
  { title: 'Agent', cell: (agent) => nameOf(toText(agent.id)) },
  {
    title: 'Status',
    cell: (agent) => [toText(agent.status), toText(agent.error)].filter((one) => one !== '').join(': '),
  },
  { title: 'Answers', isNumber: true, cell: (agent) => toNumber(agent.answers) },
  { title: 'Refusals', isNumber: true, cell: (agent) => formatThousands(toNumber(agent.refusals)) },
  { title: 'Characters lost', isNumber: true, cell: (agent) => formatThousands(toNumber(agent.buffer_chars_lost)) },
  { title: 'Unknown tools', cell: (agent) => toText(agent.unknown_tools) },
  { title: 'Tokens', cell: (agent) => formatTokens(toObject(agent.tokens)) },
])}
${renderTable(all, [
  { title: 'Agent', cell: (one) => toText(one.agent) },
  { title: 'Round', isNumber: true, cell: (one) => toNumber(one.round) },
  { title: 'Seconds', isNumber: true, cell: (one) => toNumber(one.seconds).toFixed(1) },
  { title: 'Tokens', isNumber: true, cell: (one) => formatThousands(countUsedTokens(toObject(one.tokens))) },
  { title: 'Refusals', isNumber: true, cell: (one) => toNumber(one.refusals) },
  { title: 'Reasons', cell: (one) => toText(one.reasons) },
])}</section>`
}

function answerSection(report: JsonObject, nameOf: NameOf): Markup {
  const answers = listOf(report.answers)
  if (answers.length === 0) return html`<section><h2>Answers</h2><p>There are no answers.</p></section>`
  const shown = answers.map((answer) => {
    const verdict = toText(answer.verdict)
    const about = `${nameOf(toText(answer.agent))}, round ${toNumber(answer.round)}, ${formatCount(toNumber(answer.chars), 'character')}`
    return html`<details><summary>${toText(answer.label)} <span class="dim">${about}${verdict === '' ? '' : `, ${verdict}`}</span></summary>
<pre>${toText(answer.content)}</pre>${cutNote(answer)}</details>
`
  })
  return html`<section><h2>Answers</h2>${shown}</section>`
}

function cutNote(answer: JsonObject): Markup {
  return answer.is_cut === true ? html`<p class="dim">Only the beginning is shown.</p>` : html``
}

function voteSection(report: JsonObject, nameOf: NameOf): Markup {
  const votes = listOf(report.votes)
  if (votes.length === 0) return html`<section><h2>Votes</h2><p>Nobody voted.</p></section>`
  return html`<section><h2>Votes</h2>${renderTable(votes, [
    { title: 'Agent', cell: (vote) => nameOf(toText(vote.agent)) },
    { title: 'Round', isNumber: true, cell: (vote) => toNumber(vote.round) },
    { title: 'For', cell: (vote) => toText(vote.label) },
    { title: 'Counts', cell: (vote) => (vote.stands === true ? 'yes' : 'no, voided by an answer') },
    { title: 'Reason', cell: (vote) => toText(vote.reason) },
  ])}</section>`
}
