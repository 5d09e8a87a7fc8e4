import type { RefusalRow, Report } from 'phaselock/sdk'
import { formatDuration, formatThousands } from '../../core/text.js'
import { formatTime } from '../client/answer-values.js'
import { countUsedTokens } from './analyze-text.js'
import { renderCoordinationSections } from './report-html-council.js'
import { formatPercent, renderTable } from './report-html-parts.js'
import { renderTaskSections } from './report-html-task.js'
import { html, type Markup, trustMarkup } from './report-markup.js'
import { renderBarsPlot } from './report-plots.js'
import { REPORT_STYLE } from './report-style.js'
import { countVisit, formatCommits, isTask } from './report-text.js'

const PLOT_ROWS_MAX = 30
// Nothing is fetched and no script runs, whatever the texts in it say.
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
<style>${trustMarkup(REPORT_STYLE)}</style>
</head>
<body>
<header>
<p class="dim">${run.kind === 'task' ? 'Task' : 'Coordination'} ${run.id}</p>
<h1>${run.title || run.id}</h1>
<p>${formatStatus(run)}</p>
</header>
<main>
${renderNumbers(report)}
${isTask(report) ? renderTaskSections(report) : renderCoordinationSections(report)}
${renderRefusalSection(report)}
</main>
<footer>Made by Phaselock from ${formatThousands(report.events)} events of the ledger, ${formatTime(report.at)}.${report.truncated ? ' The lists are cut; the counts are complete.' : ''}</footer>
</body>
</html>
`
  return page.text
}

function formatStatus({ status, finish_reason_details: details }: Report['run']): string {
  return `${status.replaceAll('_', ' ')}${details ? `: ${details}` : ''}`
}

function renderNumbers(report: Report): Markup {
  const [tokens, more] = isTask(report)
    ? [
        [report.totals.tokens],
        [
          ['Gates passed', formatPercent(report.gates.pass_rate)],
          ...formatCommits(report).map((text) => ['Committed', text]),
        ],
      ]
    : [
        report.agents.map((agent) => agent.tokens),
        [
          ['Winner', report.result.winner ?? 'none'],
          ['Characters lost', formatThousands(report.buffer_chars_lost)],
        ],
      ]
  const used = tokens.reduce((sum, token) => sum + countUsedTokens(token), 0)
  const shown = [
    ['Time', formatDuration(Math.round(report.run.elapsed_seconds))],
    ['Refusals', formatThousands(report.refusals.count)],
    ...more,
    ['Tokens', used === 0 ? 'not known' : formatThousands(used)],
  ]
  return html`<dl class="numbers">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

function renderRefusalSection(report: Report): Markup {
  const { count, rows, by_reason } = report.refusals
  if (count === 0) return html`<section><h2>Refusals</h2><p>Nothing was refused.</p></section>`
  const round = isTask(report) ? 'visit' : 'round'
  const named = (key: 'phase' | 'round'): readonly string[] =>
    [...new Set(rows.map((row) => String(row[key])))].slice(0, PLOT_ROWS_MAX)
  const agents = [...new Set(rows.map((row) => row.agent))]
  const by = (key: Key, names: readonly string[], shown: (name: string) => string = (name) => name): Markup =>
    renderBarsPlot({
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
${renderTable(rows, [
  { title: 'Agent', cell: (row) => row.agent },
  { title: 'Reason', cell: (row) => row.reason },
  { title: 'Phase', cell: (row) => row.phase },
  {
    title: isTask(report) ? 'Visit' : 'Round',
    isNumber: true,
    cell: (row) => (isTask(report) ? countVisit(report, row) : row.round),
  },
  { title: 'Refusals', isNumber: true, cell: (row) => formatThousands(row.count) },
])}</section>`
}

type Key = 'reason' | 'phase' | 'round'

function countOf(
  rows: readonly RefusalRow[],
  { agent, key, name }: { readonly agent: string; readonly key: Key; readonly name: string },
): number {
  return rows.filter((row) => row.agent === agent && String(row[key]) === name).reduce((sum, row) => sum + row.count, 0)
}
