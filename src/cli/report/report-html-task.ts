import type { JsonObject } from '../../core/json.js'
import { formatThousands } from '../../core/text.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { runText } from '../terminal/evidence-text.js'
import { formatDuration } from '../workflow/run-text.js'
import { countUsedTokens, formatTokens, toNumber } from './analyze-text.js'
import { formatPercent, renderTable } from './report-html-parts.js'
import { html, type Markup } from './report-markup.js'
import { renderBarsPlot, renderSpansPlot } from './report-plots.js'

const VISITS_SHOWN_MAX = 40
const EVIDENCE_SHOWN_MAX = 100

/** What is particular to a task: its phases, its way through them, its gates, its evidence. */
export function renderTaskSections(report: JsonObject): Markup {
  const phases = listOf(report.phases)
  if (phases.length === 0) return html`<section><p>Nobody has begun with it.</p></section>`
  const names = phases.map((one) => toText(one.phase))
  const kinds = ['input', 'output', 'cache_read', 'cache_write'] as const
  const isCounted = phases.some((one) => countUsedTokens(toObject(one.tokens)) > 0)
  return html`<section><h2>Time and tokens by phase</h2>
${renderBarsPlot({
  ...{ title: 'Time by phase', unit: 'seconds', rows: names },
  series: [{ name: 'seconds', values: phases.map((one) => toNumber(one.seconds)) }],
})}
${
  isCounted
    ? renderBarsPlot({
        ...{ title: 'Tokens by phase', unit: 'tokens', rows: names },
        series: kinds.map((kind) => ({
          name: kind.replace('_', ' '),
          values: phases.map((one) => toNumber(toObject(one.tokens)[kind])),
        })),
      })
    : html`<p class="dim">No token usage was reported.</p>`
}
${renderTable(phases, [
  { title: 'Phase', cell: (one) => toText(one.phase) },
  { title: 'Visits', isNumber: true, cell: (one) => toNumber(one.visits) },
  { title: 'Time', isNumber: true, cell: (one) => formatDuration(toNumber(one.seconds)) },
  { title: 'Tokens', cell: (one) => formatTokens(toObject(one.tokens)) },
  { title: 'Calls', isNumber: true, cell: (one) => formatThousands(toNumber(one.tool_calls)) },
  { title: 'Stops', isNumber: true, cell: (one) => formatThousands(toNumber(one.interrupts)) },
  { title: 'Refusals', isNumber: true, cell: (one) => formatThousands(toNumber(one.refusals)) },
])}</section>
${visitSection(report)}
${renderGateSection(toObject(report.gates))}
${renderEvidenceSection(listOf(report.evidence))}`
}

function visitSection(report: JsonObject): Markup {
  const visits = listOf(report.visits).slice(-VISITS_SHOWN_MAX)
  const start = Date.parse(toText(visits[0]?.entered_at))
  const spans = visits.map((visit) => ({
    row: `${toNumber(visit.visit)} ${toText(visit.phase)}`,
    from: Math.max(0, (Date.parse(toText(visit.entered_at)) - start) / 1000),
    seconds: toNumber(visit.seconds),
  }))
  return html`<section><h2>Its way through the phases</h2>${renderSpansPlot('Visits', spans)}</section>`
}

function renderGateSection(gates: JsonObject): Markup {
  const list = listOf(gates.by_gate)
  if (list.length === 0) return html`<section><h2>Gates</h2><p>No gate was tried.</p></section>`
  return html`<section><h2>Gates</h2>
<p>Passed: ${formatPercent(gates.pass_rate)} (${toNumber(gates.passed)} passed, ${toNumber(gates.blocked)} blocked)</p>
${renderBarsPlot({
  ...{ title: 'Attempts by gate', unit: 'attempts', rows: list.map((one) => toText(one.gate)) },
  series: [
    { name: 'passed', values: list.map((one) => toNumber(one.passed)) },
    { name: 'blocked', values: list.map((one) => toNumber(one.blocked)) },
  ],
})}
${renderTable(list, [
  { title: 'Gate', cell: (one) => toText(one.gate) },
  { title: 'Passed', isNumber: true, cell: (one) => toNumber(one.passed) },
  { title: 'Blocked', isNumber: true, cell: (one) => toNumber(one.blocked) },
])}</section>`
}

function renderEvidenceSection(evidence: readonly JsonObject[]): Markup {
  if (evidence.length === 0) return html``
  return html`<section><h2>Evidence</h2>
<p class="dim">Grades: reported (the agent's word), artifact (a file that Phaselock read), observed (Phaselock ran it), proved (the new tests also failed once what they expect was changed).</p>
${renderTable(evidence.slice(-EVIDENCE_SHOWN_MAX), [
  { title: 'Phase', cell: (one) => toText(one.phase) },
  { title: 'Evidence', cell: (one) => toText(one.name) },
  { title: 'Grade', cell: (one) => toText(one.grade) },
  { title: 'Tests', cell: (one) => runText(toObject(one.run)) },
])}</section>`
}
