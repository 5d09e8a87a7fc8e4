import { escapeMermaid, quoteDot } from '../../contract/graph.js'
import type { JsonObject } from '../../core/json.js'
import { formatThousands } from '../../core/text.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { formatDuration } from '../workflow/run-text.js'
import { countUsedTokens, toNumber } from './analyze-text.js'

const VISITS_TOLD_MAX = 5

/** A run as a graph: a box for each phase with its visits, and an arrow for each way that was taken. Loops are ways back. */
export function renderVisitsMermaid(metrics: JsonObject): string {
  const { boxes, ways } = buildGraph(metrics)
  const lines = ['flowchart TD']
  for (const [phase, box] of boxes)
    lines.push(
      `  ${box.node}["${[phase, ...box.lines].map((line) => escapeMermaid(toPlainLine(line))).join('<br/>')}"]`,
    )
  for (const way of ways.values())
    lines.push(`  ${way.from} ${way.isBack ? '-.->' : '-->'}|"${escapeMermaid(formatLabel(way))}"| ${way.to}`)
  return `${lines.join('\n')}\n`
}

/** The same for Graphviz. */
export function renderVisitsDot(metrics: JsonObject): string {
  const { boxes, ways } = buildGraph(metrics)
  const name = toPlainLine(toText(toObject(metrics.task).id))
  const lines = [`digraph ${quoteDot(name)} {`, '  rankdir=TB;', '  node [shape=box, style=rounded];']
  for (const [phase, box] of boxes)
    lines.push(`  ${box.node} [label=${quoteDot([phase, ...box.lines].map(toPlainLine).join('\n'))}];`)
  for (const way of ways.values())
    lines.push(`  ${way.from} -> ${way.to} [label=${quoteDot(formatLabel(way))}${way.isBack ? ', style=dashed' : ''}];`)
  return `${[...lines, '}'].join('\n')}\n`
}

interface Box {
  readonly node: string
  readonly lines: string[]
}

interface Way {
  readonly from: string
  readonly to: string
  readonly isBack: boolean
  /** The visits that were begun by it. */
  readonly visits: string[]
}

function buildGraph(metrics: JsonObject): {
  readonly boxes: ReadonlyMap<string, Box>
  readonly ways: ReadonlyMap<string, Way>
} {
  const boxes = new Map<string, Box>()
  const ways = new Map<string, Way>()
  let before: Box | null = null
  for (const visit of listOf(metrics.visits)) {
    const phase = toText(visit.phase)
    const box: Box = boxes.get(phase) ?? { node: `p${boxes.size}`, lines: [] }
    boxes.set(phase, box)
    box.lines.push(formatVisitLine(visit))
    if (before !== null) {
      const isBack = visit.entered_by === 'back' || visit.entered_by === 'rewind'
      const key = `${before.node} ${box.node} ${isBack}`
      const way = ways.get(key) ?? { from: before.node, to: box.node, isBack, visits: [] }
      ways.set(key, way)
      way.visits.push(toText(visit.visit))
    }
    before = box
  }
  for (const { lines } of boxes.values())
    if (lines.length > VISITS_TOLD_MAX)
      lines.splice(0, lines.length - VISITS_TOLD_MAX, `${lines.length - VISITS_TOLD_MAX} earlier visits`)
  return { boxes, ways }
}

function formatVisitLine(visit: JsonObject): string {
  const time = formatDuration(toNumber(visit.duration_seconds))
  return `visit ${toText(visit.visit)}: ${time}, ${formatThousands(countUsedTokens(toObject(visit.tokens)))} tokens`
}

function formatLabel({ visits, isBack }: Way): string {
  const times = visits.length === 1 ? `to visit ${visits[0] ?? ''}` : `${visits.length} times`
  return isBack ? `back, ${times}` : times
}
