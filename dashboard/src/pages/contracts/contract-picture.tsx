import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import {
  type ContractGraph,
  cutText,
  LOCK_RADIUS,
  layOutGraph,
  type PhaseBox,
  type Point,
  type TransitionLine,
} from './graph-layout.js'
import { BOX } from './graph-side-ways.js'

/** The phases with the tasks in each now, and the gates between them with the tasks that wait there. */
export function ContractPicture({ graph, name }: { readonly graph: ContractGraph; readonly name: string }) {
  const picture = useRef<SVGSVGElement>(null)
  const layout = layOutGraph(graph)
  const { boxX } = layout
  // Where the picture is wider than the screen, the phases come first and the ways back are scrolled to.
  useEffect(() => {
    const scroll = (): void => {
      const box = picture.current?.parentElement
      if (box != null) box.scrollLeft = boxX - BOX.gap
    }
    scroll()
    window.addEventListener('resize', scroll)
    return () => window.removeEventListener('resize', scroll)
  }, [boxX])
  const tasks = Object.values(graph.counts).reduce((sum, count) => sum + count, 0)
  return (
    <svg
      ref={picture}
      className="con-graph"
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      width={layout.width}
      height={layout.height}
    >
      <title>{`${name}: ${graph.phases.length} phases, ${tasks} open tasks`}</title>
      <defs>
        <marker id="con-end" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto">
          <path className="con-tip" d="M0 0L10 5L0 10z" />
        </marker>
      </defs>
      {layout.lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a contract can have two equal transitions, and never reorders them
        <Way key={index} line={line} />
      ))}
      {layout.boxes.map((box) => (
        <PhaseNode key={box.id} box={box} x={layout.boxX} />
      ))}
      {layout.lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <GateMark key={index} line={line} />
      ))}
    </svg>
  )
}

function Way({ line }: { readonly line: TransitionLine }) {
  return (
    <path
      className={line.isBack ? 'con-way con-back' : 'con-way'}
      d={drawPath(line.points)}
      markerEnd="url(#con-end)"
    />
  )
}

const CORNER = 8

/** A line through the points, with round corners. */
function drawPath(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1]
      const after = points[index + 1]
      if (before === undefined) return `M${point.x} ${point.y}`
      if (after === undefined) return `L${approach(before, point, 2)}`
      const radius = Math.min(CORNER, measure(before, point) / 2, measure(point, after) / 2)
      return `L${approach(before, point, radius)}Q${point.x} ${point.y} ${approach(after, point, radius)}`
    })
    .join('')
}

/** The point that lies `short` before the end of a horizontal or vertical line. */
function approach(from: Point, to: Point, short: number): string {
  return `${to.x - Math.sign(to.x - from.x) * short} ${to.y - Math.sign(to.y - from.y) * short}`
}

function measure(from: Point, to: Point): number {
  return Math.abs(to.x - from.x) + Math.abs(to.y - from.y)
}

const NAME_CHARS = 28

function PhaseNode({ box, x }: { readonly box: PhaseBox; readonly x: number }) {
  const middle = box.y + box.height / 2
  const isNamed = box.name !== box.id
  return (
    <Link to="/board" search={{ phase: box.id }} className="con-phase">
      <rect x={x} y={box.y} width={BOX.width} height={box.height} rx="8" />
      <text className="con-id" x={x + 14} y={isNamed ? middle - 4 : middle + 5}>
        {cutText(box.id, NAME_CHARS - (box.count === 0 ? 0 : 6))}
      </text>
      {isNamed ? (
        <text className="con-name" x={x + 14} y={middle + 14}>
          {cutText(box.name, NAME_CHARS)}
        </text>
      ) : null}
      {box.count === 0 ? null : (
        <>
          <text className="con-count" x={x + BOX.width - 14} y={middle} textAnchor="end">
            {box.count}
          </text>
          <text className="con-name" x={x + BOX.width - 14} y={middle + 16} textAnchor="end">
            {box.count === 1 ? 'task' : 'tasks'}
          </text>
        </>
      )}
    </Link>
  )
}

function GateMark({ line }: { readonly line: TransitionLine }) {
  const { label, lock } = line
  if (label === null) return null
  return (
    <g className={line.isWaiting ? 'con-gate con-gate-waits' : 'con-gate'}>
      <title>{line.title}</title>
      {lock === null ? null : (
        <>
          <circle cx={lock.x} cy={lock.y} r={LOCK_RADIUS} />
          <path
            className="con-lock"
            d={`M${lock.x - 3.5} ${lock.y - 0.5}h7v5h-7zM${lock.x - 2} ${lock.y - 0.5}v-2a2 2 0 0 1 4 0v2`}
          />
        </>
      )}
      <text x={label.anchor === 'start' ? label.x : label.x + label.width} y={label.y + 11.5} textAnchor={label.anchor}>
        {label.text}
        {label.waits === '' ? null : (
          <tspan className="con-waits" dx="8">
            {label.waits}
          </tspan>
        )}
      </text>
    </g>
  )
}
