import type { JsonObject } from '../../core/json.js'
import { formatThousands } from '../../core/text.js'
import { formatTime, listOf, toObject, toText } from '../client/answer-values.js'
import { formatDuration } from '../workflow/run-text.js'
import { toNumber } from './analyze-text.js'
import { renderCoordinationSections } from './report-html-council.js'
import { formatPercent, renderTable } from './report-html-parts.js'
import { renderTaskSections } from './report-html-task.js'
import { html, type Markup, trustMarkup } from './report-markup.js'
import { renderBarsPlot } from './report-plots.js'
import { REPORT_STYLE } from './report-style.js'

const PLOT_ROWS_MAX = 30
// Nothing is fetched and nothing runs, whatever the texts in it say.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** The report as one page that needs nothing else. */
export function reportPage(report: JsonObject): string {
  const run = toObject(report.run)
  const title = toText(run.title) || toText(run.id)
  const isTask = run.kind === 'task'
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Report of ${toText(run.id)}</title>
<style>${trustMarkup(REPORT_STYLE)}</style>
</head>
<body>
<header>
<p class="dim">${isTask ? 'Task' : 'Coordination'} ${toText(run.id)}</p>
<h1>${title}</h1>
<p>${formatStatus(run)}</p>
</header>
<main>
${renderNumbers(report)}
${isTask ? renderTaskSections(report) : renderCoordinationSections(report)}
${renderRefusalSection(report)}
</main>
<footer>Made by Phaselock from ${formatThousands(toNumber(report.events))} events of the ledger, ${formatTime(report.at)}.${report.truncated === true ? ' There was more than is listed here; the counts are of all.' : ''}</footer>
</body>
</html>
`
  return page.text
}

function formatStatus(run: JsonObject): string {
  const details = toText(run.finish_reason_details)
  const status = toText(run.status).replaceAll('_', ' ')
  return `${status}${details === '' ? '' : `: ${details}`}`
}

function renderNumbers(report: JsonObject): Markup {
  const run = toObject(report.run)
  const rate = toObject(report.gates).pass_rate
  const winner = toText(toObject(report.result).winner)
  const isTask = run.kind === 'task'
  const shown: readonly (readonly [string, string])[] = [
    ['Time', formatDuration(Math.round(toNumber(run.elapsed_seconds)))],
    ['Refusals', formatThousands(toNumber(toObject(report.refusals).count))],
    ...(isTask ? ([['Gates passed', formatPercent(rate)]] as const) : ([['Winner', winner || 'none']] as const)),
    ...(isTask ? [] : ([['Characters lost', formatThousands(toNumber(report.buffer_chars_lost))]] as const)),
    ['Tokens', formatTokens(report)],
  ]
  return html`<dl class="numbers">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

function formatTokens(report: JsonObject): string {
  const all =
    toObject(report.run).kind === 'task'
      ? [toObject(toObject(report.totals).tokens)]
      : listOf(report.agents).map((agent) => toObject(agent.tokens))
  const sum = all.reduce((total, one) => total + toNumber(one.input) + toNumber(one.output), 0)
  return sum === 0 ? 'not known' : formatThousands(sum)
}

function renderRefusalSection(report: JsonObject): Markup {
  const refusals = toObject(report.refusals)
  if (toNumber(refusals.count) === 0) return html`<section><h2>Refusals</h2><p>Nothing was refused.</p></section>`
  const rows = listOf(refusals.rows)
  const isTask = toObject(report.run).kind === 'task'
  const round = isTask ? 'visit' : 'round'
  const named = (key: string): readonly string[] =>
    [...new Set(rows.map((row) => toText(row[key])))].slice(0, PLOT_ROWS_MAX)
  const agents = [...new Set(rows.map((row) => toText(row.agent)))]
  const by = (key: string, names: readonly string[], shown: (name: string) => string = (name) => name): Markup =>
    renderBarsPlot({
      title: `Refusals by ${key === 'round' ? round : key} and agent`,
      unit: 'refusals',
      rows: names.map(shown),
      series: agents.map((agent) => ({
        name: agent,
        values: names.map((name) => countOf(rows, { agent, key, name })),
      })),
    })
  const reasons = listOf(refusals.by_reason).map((one) => toText(one.reason))
  const rounds = named('round').toSorted((a, b) => Number(a) - Number(b))
  return html`<section><h2>Refusals</h2>
${by('reason', reasons.slice(0, PLOT_ROWS_MAX))}
${by('phase', named('phase'), (name) => name || 'before the first phase')}
${by('round', rounds, (name) => `${round} ${name}`)}
${renderTable(rows, [
  { title: 'Agent', cell: (row) => toText(row.agent) },
  { title: 'Reason', cell: (row) => toText(row.reason) },
  { title: 'Phase', cell: (row) => toText(row.phase) },
  { title: isTask ? 'Visit' : 'Round', isNumber: true, cell: (row) => toNumber(row.round) },
  { title: 'Refusals', isNumber: true, cell: (row) => formatThousands(toNumber(row.count)) },
])}</section>`
}

function countOf(
  rows: readonly JsonObject[],
  { agent, key, name }: { readonly agent: string; readonly key: string; readonly name: string },
): number {
  return rows
    .filter((row) => toText(row.agent) === agent && toText(row[key]) === name)
    .reduce((sum, row) => sum + toNumber(row.count), 0)
}
