import type { JsonObject } from '../../core/json.js'
import { thousands } from '../../core/text.js'
import { listOf, objectOf, textOf, timeOf } from '../client/answer-values.js'
import { durationText } from '../workflow/run-text.js'
import { numberOf } from './analyze-text.js'
import { coordinationSections } from './report-html-council.js'
import { percent, tableOf } from './report-html-parts.js'
import { taskSections } from './report-html-task.js'
import { html, type Markup, trusted } from './report-markup.js'
import { barsPlot } from './report-plots.js'
import { REPORT_STYLE } from './report-style.js'

const PLOT_ROWS_MAX = 30
// Nothing is fetched and nothing runs, whatever the texts in it say.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** The report as one page that needs nothing else. */
export function reportPage(report: JsonObject): string {
  const run = objectOf(report.run)
  const title = textOf(run.title) || textOf(run.id)
  const isTask = run.kind === 'task'
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Report of ${textOf(run.id)}</title>
<style>${trusted(REPORT_STYLE)}</style>
</head>
<body>
<header>
<p class="dim">${isTask ? 'Task' : 'Coordination'} ${textOf(run.id)}</p>
<h1>${title}</h1>
<p>${statusText(run)}</p>
</header>
<main>
${numbers(report)}
${isTask ? taskSections(report) : coordinationSections(report)}
${refusalSection(report)}
</main>
<footer>Made by Phaselock from ${thousands(numberOf(report.events))} events of the ledger, ${timeOf(report.at)}.${report.truncated === true ? ' There was more than is listed here; the counts are of all.' : ''}</footer>
</body>
</html>
`
  return page.text
}

function statusText(run: JsonObject): string {
  const details = textOf(run.finish_reason_details)
  const status = textOf(run.status).replaceAll('_', ' ')
  return `${status}${details === '' ? '' : `: ${details}`}`
}

function numbers(report: JsonObject): Markup {
  const run = objectOf(report.run)
  const rate = objectOf(report.gates).pass_rate
  const winner = textOf(objectOf(report.result).winner)
  const isTask = run.kind === 'task'
  const shown: readonly (readonly [string, string])[] = [
    ['Time', durationText(Math.round(numberOf(run.elapsed_seconds)))],
    ['Refusals', thousands(numberOf(objectOf(report.refusals).count))],
    ...(isTask ? ([['Gates passed', percent(rate)]] as const) : ([['Winner', winner || 'none']] as const)),
    ...(isTask ? [] : ([['Characters lost', thousands(numberOf(report.buffer_chars_lost))]] as const)),
    ['Tokens', tokensText(report)],
  ]
  return html`<dl class="numbers">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

function tokensText(report: JsonObject): string {
  const all =
    objectOf(report.run).kind === 'task'
      ? [objectOf(objectOf(report.totals).tokens)]
      : listOf(report.agents).map((agent) => objectOf(agent.tokens))
  const sum = all.reduce((total, one) => total + numberOf(one.input) + numberOf(one.output), 0)
  return sum === 0 ? 'not known' : thousands(sum)
}

function refusalSection(report: JsonObject): Markup {
  const refusals = objectOf(report.refusals)
  if (numberOf(refusals.count) === 0) return html`<section><h2>Refusals</h2><p>Nothing was refused.</p></section>`
  const rows = listOf(refusals.rows)
  const isTask = objectOf(report.run).kind === 'task'
  const round = isTask ? 'visit' : 'round'
  const named = (key: string): readonly string[] =>
    [...new Set(rows.map((row) => textOf(row[key])))].slice(0, PLOT_ROWS_MAX)
  const agents = [...new Set(rows.map((row) => textOf(row.agent)))]
  const by = (key: string, names: readonly string[], shown: (name: string) => string = (name) => name): Markup =>
    barsPlot({
      title: `Refusals by ${key === 'round' ? round : key} and agent`,
      unit: 'refusals',
      rows: names.map(shown),
      series: agents.map((agent) => ({
        name: agent,
        values: names.map((name) => countOf(rows, { agent, key, name })),
      })),
    })
  const reasons = listOf(refusals.by_reason).map((one) => textOf(one.reason))
  const rounds = named('round').toSorted((a, b) => Number(a) - Number(b))
  return html`<section><h2>Refusals</h2>
${by('reason', reasons.slice(0, PLOT_ROWS_MAX))}
${by('phase', named('phase'), (name) => name || 'before the first phase')}
${by('round', rounds, (name) => `${round} ${name}`)}
${tableOf(rows, [
  { title: 'Agent', cell: (row) => textOf(row.agent) },
  { title: 'Reason', cell: (row) => textOf(row.reason) },
  { title: 'Phase', cell: (row) => textOf(row.phase) },
  { title: isTask ? 'Visit' : 'Round', isNumber: true, cell: (row) => numberOf(row.round) },
  { title: 'Refusals', isNumber: true, cell: (row) => thousands(numberOf(row.count)) },
])}</section>`
}

function countOf(
  rows: readonly JsonObject[],
  { agent, key, name }: { readonly agent: string; readonly key: string; readonly name: string },
): number {
  return rows
    .filter((row) => textOf(row.agent) === agent && textOf(row[key]) === name)
    .reduce((sum, row) => sum + numberOf(row.count), 0)
}
