import type { JsonObject } from '../../core/json.js'
import { thousands } from '../../core/text.js'
import { listOf, objectOf, textOf } from '../client/answer-values.js'
import { runText } from '../terminal/evidence-text.js'
import { durationText } from '../workflow/run-text.js'
import { numberOf, tokensText, usedTokens } from './analyze-text.js'
import { percent, tableOf } from './report-html-parts.js'
import { html, type Markup } from './report-markup.js'
import { barsPlot, spansPlot } from './report-plots.js'

const VISITS_SHOWN_MAX = 40
const EVIDENCE_SHOWN_MAX = 100

/** What is particular to a task: its phases, its way through them, its gates, its evidence. */
export function taskSections(report: JsonObject): Markup {
  const phases = listOf(report.phases)
  if (phases.length === 0) return html`<section><p>Nobody has begun with it.</p></section>`
  const names = phases.map((one) => textOf(one.phase))
  const kinds = ['input', 'output', 'cache_read', 'cache_write'] as const
  const isCounted = phases.some((one) => usedTokens(objectOf(one.tokens)) > 0)
  return html`<section><h2>Time and tokens by phase</h2>
${barsPlot({
  ...{ title: 'Time by phase', unit: 'seconds', rows: names },
  series: [{ name: 'seconds', values: phases.map((one) => numberOf(one.seconds)) }],
})}
${
  isCounted
    ? barsPlot({
        ...{ title: 'Tokens by phase', unit: 'tokens', rows: names },
        series: kinds.map((kind) => ({
          name: kind.replace('_', ' '),
          values: phases.map((one) => numberOf(objectOf(one.tokens)[kind])),
        })),
      })
    : html`<p class="dim">No token usage was reported.</p>`
}
${tableOf(phases, [
  { title: 'Phase', cell: (one) => textOf(one.phase) },
  { title: 'Visits', isNumber: true, cell: (one) => numberOf(one.visits) },
  { title: 'Time', isNumber: true, cell: (one) => durationText(numberOf(one.seconds)) },
  { title: 'Tokens', cell: (one) => tokensText(objectOf(one.tokens)) },
  { title: 'Calls', isNumber: true, cell: (one) => thousands(numberOf(one.tool_calls)) },
  { title: 'Stops', isNumber: true, cell: (one) => thousands(numberOf(one.interrupts)) },
  { title: 'Refusals', isNumber: true, cell: (one) => thousands(numberOf(one.refusals)) },
])}</section>
${visitSection(report)}
${gateSection(objectOf(report.gates))}
${evidenceSection(listOf(report.evidence))}`
}

function visitSection(report: JsonObject): Markup {
  const visits = listOf(report.visits).slice(-VISITS_SHOWN_MAX)
  const start = Date.parse(textOf(visits[0]?.entered_at))
  const spans = visits.map((visit) => ({
    row: `${numberOf(visit.visit)} ${textOf(visit.phase)}`,
    from: Math.max(0, (Date.parse(textOf(visit.entered_at)) - start) / 1000),
    seconds: numberOf(visit.seconds),
  }))
  return html`<section><h2>Its way through the phases</h2>${spansPlot('Visits', spans)}</section>`
}

function gateSection(gates: JsonObject): Markup {
  const list = listOf(gates.by_gate)
  if (list.length === 0) return html`<section><h2>Gates</h2><p>No gate was tried.</p></section>`
  return html`<section><h2>Gates</h2>
<p>Passed: ${percent(gates.pass_rate)} (${numberOf(gates.passed)} passed, ${numberOf(gates.blocked)} blocked)</p>
${barsPlot({
  ...{ title: 'Attempts by gate', unit: 'attempts', rows: list.map((one) => textOf(one.gate)) },
  series: [
    { name: 'passed', values: list.map((one) => numberOf(one.passed)) },
    { name: 'blocked', values: list.map((one) => numberOf(one.blocked)) },
  ],
})}
${tableOf(list, [
  { title: 'Gate', cell: (one) => textOf(one.gate) },
  { title: 'Passed', isNumber: true, cell: (one) => numberOf(one.passed) },
  { title: 'Blocked', isNumber: true, cell: (one) => numberOf(one.blocked) },
])}</section>`
}

function evidenceSection(evidence: readonly JsonObject[]): Markup {
  if (evidence.length === 0) return html``
  return html`<section><h2>Evidence</h2>
<p class="dim">Grades: reported (the agent's word), artifact (a file that Phaselock read), observed (Phaselock ran it), proved (the new tests also failed once what they expect was changed).</p>
${tableOf(evidence.slice(-EVIDENCE_SHOWN_MAX), [
  { title: 'Phase', cell: (one) => textOf(one.phase) },
  { title: 'Evidence', cell: (one) => textOf(one.name) },
  { title: 'Grade', cell: (one) => textOf(one.grade) },
  { title: 'Tests', cell: (one) => runText(objectOf(one.run)) },
])}</section>`
}
