import type { RefusalRow, Report } from 'phaselock/sdk'
import { duration, thousands } from '../../core/text.js'
import { timeOf } from '../client/answer-values.js'
import { usedTokens } from './analyze-text.js'
import { coordinationSections } from './report-html-council.js'
import { percent, tableOf } from './report-html-parts.js'
import { taskSections } from './report-html-task.js'
import { html, type Markup, trusted } from './report-markup.js'
import { barsPlot } from './report-plots.js'
import { REPORT_STYLE } from './report-style.js'
import { isTask } from './report-text.js'

const PLOT_ROWS_MAX = 30
// Nothing is fetched and nothing runs, whatever the texts in it say.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** The report as one page that needs nothing else. */
export function reportPage(report: Report): string {
  const { run } = report
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Report of ${run.id}</title>
<style>${trusted(REPORT_STYLE)}</style>
</head>
<body>
<header>
<p class="dim">${run.kind === 'task' ? 'Task' : 'Coordination'} ${run.id}</p>
<h1>${run.title || run.id}</h1>
<p>${statusText(run)}</p>
</header>
<main>
${numbers(report)}
${isTask(report) ? taskSections(report) : coordinationSections(report)}
${refusalSection(report)}
</main>
<footer>Made by Phaselock from ${thousands(report.events)} events of the ledger, ${timeOf(report.at)}.${report.truncated ? ' There was more than is listed here; the counts are of all.' : ''}</footer>
</body>
</html>
`
  return page.text
}

function statusText({ status, finish_reason_details: details }: Report['run']): string {
  return `${status.replaceAll('_', ' ')}${details ? `: ${details}` : ''}`
}

function numbers(report: Report): Markup {
  const [tokens, more] = isTask(report)
    ? [[report.totals.tokens], [['Gates passed', percent(report.gates.pass_rate)]]]
    : [
        report.agents.map((agent) => agent.tokens),
        [
          ['Winner', report.result.winner ?? 'none'],
          ['Characters lost', thousands(report.buffer_chars_lost)],
        ],
      ]
  const used = tokens.reduce((sum, one) => sum + usedTokens(one), 0)
  const shown = [
    ['Time', duration(Math.round(report.run.elapsed_seconds))],
    ['Refusals', thousands(report.refusals.count)],
    ...more,
    ['Tokens', used === 0 ? 'not known' : thousands(used)],
  ]
  return html`<dl class="numbers">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

function refusalSection(report: Report): Markup {
  const { count, rows, by_reason } = report.refusals
  if (count === 0) return html`<section><h2>Refusals</h2><p>Nothing was refused.</p></section>`
  const round = isTask(report) ? 'visit' : 'round'
  const named = (key: 'phase' | 'round'): readonly string[] =>
    [...new Set(rows.map((row) => String(row[key])))].slice(0, PLOT_ROWS_MAX)
  const agents = [...new Set(rows.map((row) => row.agent))]
  const by = (key: Key, names: readonly string[], shown: (name: string) => string = (name) => name): Markup =>
    barsPlot({
      title: `Refusals by ${key === 'round' ? round : key} and agent`,
      unit: 'refusals',
      rows: names.map(shown),
      series: agents.map((agent) => ({
        name: agent,
        values: names.map((name) => countOf(rows, { agent, key, name })),
      })),
    })
  const reasons = by_reason.map((one) => one.reason)
  const rounds = named('round').toSorted((a, b) => Number(a) - Number(b))
  return html`<section><h2>Refusals</h2>
${by('reason', reasons.slice(0, PLOT_ROWS_MAX))}
${by('phase', named('phase'), (name) => name || 'before the first phase')}
${by('round', rounds, (name) => `${round} ${name}`)}
${tableOf(rows, [
  { title: 'Agent', cell: (row) => row.agent },
  { title: 'Reason', cell: (row) => row.reason },
  { title: 'Phase', cell: (row) => row.phase },
  { title: isTask(report) ? 'Visit' : 'Round', isNumber: true, cell: (row) => row.round },
  { title: 'Refusals', isNumber: true, cell: (row) => thousands(row.count) },
])}</section>`
}

type Key = 'reason' | 'phase' | 'round'

function countOf(
  rows: readonly RefusalRow[],
  { agent, key, name }: { readonly agent: string; readonly key: Key; readonly name: string },
): number {
  return rows.filter((row) => row.agent === agent && String(row[key]) === name).reduce((sum, row) => sum + row.count, 0)
}
