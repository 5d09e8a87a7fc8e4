import type { TaskMetrics, VisitTally } from 'phaselock/sdk'
import { escapeMermaid, quoteDot } from '../../contract/graph.js'
import { plainLine } from '../../core/plain-text.js'
import { formatDuration, formatThousands } from '../../core/text.js'
import { countUsedTokens } from './analyze-text.js'

const VISITS_TOLD_MAX = 5

/**
 * A run as a graph: a box for each phase with its visits, and an arrow for each transition that was made. Loops are
 * ways back.
 */
export function renderVisitsMermaid(metrics: TaskMetrics): string {
  const { boxes, ways } = buildGraph(metrics)
  const lines = ['flowchart TD']
  for (const [phase, box] of boxes)
    lines.push(`  ${box.node}["${[phase, ...box.lines].map((line) => escapeMermaid(plainLine(line))).join('<br/>')}"]`)
  for (const way of ways.values())
    lines.push(`  ${way.from} ${way.isBack ? '-.->' : '-->'}|"${escapeMermaid(formatLabel(way))}"| ${way.to}`)
  return `${lines.join('\n')}\n`
}

/** The same for Graphviz. */
export function renderVisitsDot(metrics: TaskMetrics): string {
  const { boxes, ways } = buildGraph(metrics)
  const name = plainLine(metrics.task.id)
  const lines = [`digraph ${quoteDot(name)} {`, '  rankdir=TB;', '  node [shape=box, style=rounded];']
  for (const [phase, box] of boxes)
    lines.push(`  ${box.node} [label=${quoteDot([phase, ...box.lines].map(plainLine).join('\n'))}];`)
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
  /** The visits that began with it. */
  readonly visits: string[]
}

function buildGraph(metrics: TaskMetrics): {
  readonly boxes: ReadonlyMap<string, Box>
  readonly ways: ReadonlyMap<string, Way>
} {
  const boxes = new Map<string, Box>()
  const ways = new Map<string, Way>()
  let before: Box | null = null
  for (const visit of metrics.visits) {
    const { phase } = visit
    const box: Box = boxes.get(phase) ?? { node: `p${boxes.size}`, lines: [] }
    boxes.set(phase, box)
    box.lines.push(formatVisitLine(visit))
    if (before !== null) {
      const isBack = visit.entered_by === 'back' || visit.entered_by === 'rewind'
      const key = `${before.node} ${box.node} ${isBack}`
      const way = ways.get(key) ?? { from: before.node, to: box.node, isBack, visits: [] }
      ways.set(key, way)
      way.visits.push(String(visit.visit))
    }
    before = box
  }
  for (const { lines } of boxes.values())
    if (lines.length > VISITS_TOLD_MAX)
      lines.splice(0, lines.length - VISITS_TOLD_MAX, `${lines.length - VISITS_TOLD_MAX} earlier visits`)
  return { boxes, ways }
}

function formatVisitLine({ visit, duration_seconds, tokens }: VisitTally): string {
  return `visit ${visit}: ${formatDuration(duration_seconds)}, ${formatThousands(countUsedTokens(tokens))} tokens`
}

function formatLabel({ visits, isBack }: Way): string {
  const times = visits.length === 1 ? `to visit ${visits[0] ?? ''}` : `${visits.length} times`
  return isBack ? `back, ${times}` : times
}
