import type { JsonObject } from '../../core/json.js'
import { counted, thousands } from '../../core/text.js'
import { listOf, objectOf, textOf } from '../client/answer-values.js'
import { numberOf, tokensText, usedTokens } from './analyze-text.js'
import { tableOf } from './report-html-parts.js'
import { html, type Markup } from './report-markup.js'
import { barsPlot, momentsPlot } from './report-plots.js'

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
export function coordinationSections(report: JsonObject): Markup {
  const agents = listOf(report.agents)
  const named = new Map(agents.map((agent) => [textOf(agent.id), `${textOf(agent.anonymous_id)} ${textOf(agent.id)}`]))
  const nameOf = (id: string): string => named.get(id) ?? id
  return html`${resultSection(report, nameOf)}
${timelineSection(report, [...named.values()], nameOf)}
${agentSection(agents, nameOf)}
${answerSection(report, nameOf)}
${voteSection(report, nameOf)}`
}

type NameOf = (id: string) => string

function resultSection(report: JsonObject, nameOf: NameOf): Markup {
  const result = objectOf(report.result)
  const winner = textOf(result.winner)
  if (winner === '') return html`<section><h2>Result</h2><p>There is no winner.</p></section>`
  const presented = objectOf(report.presentation)
  const answer =
    presented.content === undefined
      ? (listOf(report.answers).find((one) => one.label === result.label) ?? {})
      : presented
  const tie = result.is_tie === true ? ' It was a tie.' : ''
  return html`<section><h2>Result</h2>
<p>${nameOf(winner)} won with ${textOf(result.label)}.${tie}</p>
<pre>${textOf(answer.content)}</pre>${cutNote(answer)}</section>`
}

function timelineSection(report: JsonObject, rows: readonly string[], nameOf: NameOf): Markup {
  const moments = listOf(report.timeline).flatMap((one) => {
    const kind = KINDS[textOf(one.type)]
    const agent = textOf(one.agent)
    return kind === undefined || agent === '' ? [] : [{ row: nameOf(agent), kind, seconds: numberOf(one.seconds) }]
  })
  return moments.length === 0
    ? html``
    : html`<section><h2>Timeline</h2>${momentsPlot({ title: 'What each agent did when', rows, kinds: [...new Set(Object.values(KINDS))], moments })}</section>`
}

function agentSection(agents: readonly JsonObject[], nameOf: NameOf): Markup {
  const names = agents.map((agent) => nameOf(textOf(agent.id)))
  const most = Math.max(0, ...agents.map((agent) => listOf(agent.rounds).length))
  const rounds = Array.from({ length: Math.min(most, ROUNDS_SHOWN_MAX) }, (_, at) => at)
  const series = (value: (round: JsonObject) => number) =>
    rounds.map((at) => ({
      name: `round ${at + 1}`,
      values: agents.map((agent) => value(listOf(agent.rounds)[at] ?? {})),
    }))
  const isCounted = agents.some((agent) => usedTokens(objectOf(agent.tokens)) > 0)
  const all = agents.flatMap((agent) =>
    listOf(agent.rounds).map((round): JsonObject => ({ ...round, agent: nameOf(textOf(agent.id)) })),
  )
  return html`<section><h2>Agents and rounds</h2>
${barsPlot({ title: 'Time in turns by agent and round', unit: 'seconds', rows: names, series: series((one) => numberOf(one.seconds)) })}
${
  isCounted
    ? barsPlot({
        ...{ title: 'Tokens by agent and round', unit: 'tokens', rows: names },
        series: series((one) => usedTokens(objectOf(one.tokens))),
      })
    : html`<p class="dim">No tokens were counted.</p>`
}
${tableOf(agents, [
  { title: 'Agent', cell: (agent) => nameOf(textOf(agent.id)) },
  {
    title: 'Status',
    cell: (agent) => [textOf(agent.status), textOf(agent.error)].filter((one) => one !== '').join(': '),
  },
  { title: 'Answers', isNumber: true, cell: (agent) => numberOf(agent.answers) },
  { title: 'Refusals', isNumber: true, cell: (agent) => thousands(numberOf(agent.refusals)) },
  { title: 'Characters lost', isNumber: true, cell: (agent) => thousands(numberOf(agent.buffer_chars_lost)) },
  { title: 'Unknown tools', cell: (agent) => textOf(agent.unknown_tools) },
  { title: 'Tokens', cell: (agent) => tokensText(objectOf(agent.tokens)) },
])}
${tableOf(all, [
  { title: 'Agent', cell: (one) => textOf(one.agent) },
  { title: 'Round', isNumber: true, cell: (one) => numberOf(one.round) },
  { title: 'Seconds', isNumber: true, cell: (one) => numberOf(one.seconds).toFixed(1) },
  { title: 'Tokens', isNumber: true, cell: (one) => thousands(usedTokens(objectOf(one.tokens))) },
  { title: 'Refusals', isNumber: true, cell: (one) => numberOf(one.refusals) },
  { title: 'Reasons', cell: (one) => textOf(one.reasons) },
])}</section>`
}

function answerSection(report: JsonObject, nameOf: NameOf): Markup {
  const answers = listOf(report.answers)
  if (answers.length === 0) return html`<section><h2>Answers</h2><p>There are no answers.</p></section>`
  const shown = answers.map((one) => {
    const verdict = textOf(one.verdict)
    const about = `${nameOf(textOf(one.agent))}, round ${numberOf(one.round)}, ${counted(numberOf(one.chars), 'character')}`
    return html`<details><summary>${textOf(one.label)} <span class="dim">${about}${verdict === '' ? '' : `, ${verdict}`}</span></summary>
<pre>${textOf(one.content)}</pre>${cutNote(one)}</details>
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
  return html`<section><h2>Votes</h2>${tableOf(votes, [
    { title: 'Agent', cell: (vote) => nameOf(textOf(vote.agent)) },
    { title: 'Round', isNumber: true, cell: (vote) => numberOf(vote.round) },
    { title: 'For', cell: (vote) => textOf(vote.label) },
    { title: 'Counts', cell: (vote) => (vote.stands === true ? 'yes' : 'no, voided by an answer') },
    { title: 'Reason', cell: (vote) => textOf(vote.reason) },
  ])}</section>`
}
