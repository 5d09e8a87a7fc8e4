import type { TaskReport } from 'phaselock/sdk'
import { formatDuration, formatThousands } from '../../core/text.js'
import { runText } from '../terminal/evidence-text.js'
import { countUsedTokens, formatTokens } from './analyze-text.js'
import { formatPercent, renderTable } from './report-html-parts.js'
import { html, type Markup } from './report-markup.js'
import { renderBarsPlot, renderSpansPlot } from './report-plots.js'
import { formatPassed } from './report-text.js'

const VISITS_SHOWN_MAX = 40
const EVIDENCE_SHOWN_MAX = 100

/** The parts specific to a task: its phases, its path through them, its gates, its evidence. */
export function renderTaskSections({ phases, visits, gates, evidence }: TaskReport): Markup {
  if (phases.length === 0) return html`<section><p>Work has not started.</p></section>`
  const names = phases.map((one) => one.phase)
  const kinds = ['input', 'output', 'cache_read', 'cache_write'] as const
  const isCounted = phases.some((one) => countUsedTokens(one.tokens) > 0)
  return html`<section><h2>Time and tokens by phase</h2>
${renderBarsPlot({
  ...{ title: 'Time by phase', unit: 'seconds', rows: names },
  series: [{ name: 'seconds', values: phases.map((one) => one.seconds) }],
})}
${
  isCounted
    ? renderBarsPlot({
        ...{ title: 'Tokens by phase', unit: 'tokens', rows: names },
        series: kinds.map((kind) => ({
          name: kind.replace('_', ' '),
          values: phases.map((one) => one.tokens?.[kind] ?? 0),
        })),
      })
    : html`<p class="dim">No token usage was reported.</p>`
}
${renderTable(phases, [
  { title: 'Phase', cell: (one) => one.phase },
  { title: 'Visits', isNumber: true, cell: (one) => one.visits },
  { title: 'Time', isNumber: true, cell: (one) => formatDuration(one.seconds) },
  { title: 'Tokens', cell: (one) => formatTokens(one.tokens) },
  { title: 'Calls', isNumber: true, cell: (one) => formatThousands(one.tool_calls) },
  { title: 'Stops', isNumber: true, cell: (one) => formatThousands(one.interrupts) },
  { title: 'Refusals', isNumber: true, cell: (one) => formatThousands(one.refusals) },
])}</section>
${visitSection(visits)}
${renderGateSection(gates)}
${renderEvidenceSection(evidence)}`
}

function visitSection(all: TaskReport['visits']): Markup {
  const visits = all.slice(-VISITS_SHOWN_MAX)
  const start = Date.parse(visits[0]?.entered_at ?? '')
  const spans = visits.map((visit) => ({
    row: `${visit.visit} ${visit.phase}`,
    from: Math.max(0, (Date.parse(visit.entered_at) - start) / 1000),
    seconds: visit.seconds,
  }))
  return html`<section><h2>Path through the phases</h2>${renderSpansPlot('Visits', spans)}</section>`
}

function renderGateSection(gates: TaskReport['gates']): Markup {
  const list = gates.by_gate
  if (list.length === 0) return html`<section><h2>Gates</h2><p>No gate was tried.</p></section>`
  return html`<section><h2>Gates</h2>
<p>${formatPassed(gates)} (${formatPercent(gates.pass_rate)})</p>
${renderBarsPlot({
  ...{ title: 'Attempts by gate', unit: 'attempts', rows: list.map((one) => one.gate) },
  series: [
    { name: 'passed', values: list.map((one) => one.passed) },
    { name: 'blocked', values: list.map((one) => one.blocked) },
  ],
})}
${renderTable(list, [
  { title: 'Gate', cell: (one) => one.gate },
  { title: 'Passed', isNumber: true, cell: (one) => one.passed },
  { title: 'Blocked', isNumber: true, cell: (one) => one.blocked },
])}</section>`
}

function renderEvidenceSection(evidence: TaskReport['evidence']): Markup {
  if (evidence.length === 0) return html``
  return html`<section><h2>Evidence</h2>
<p class="dim">Grades: reported (the agent's word), artifact (a file that Phaselock read), observed (Phaselock ran it), proved (the new tests also failed once what they expect was changed).</p>
${renderTable(evidence.slice(-EVIDENCE_SHOWN_MAX), [
  { title: 'Phase', cell: (one) => one.phase },
  { title: 'Evidence', cell: (one) => one.name },
  { title: 'Grade', cell: (one) => one.grade },
  { title: 'Tests', cell: (one) => runText(one.run) },
])}</section>`
}
