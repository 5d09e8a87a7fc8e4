import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import {
  BOX,
  type ContractGraph,
  LABEL_CHARS_MAX,
  layOutGraph,
  type PhaseBox,
  type TransitionLine,
} from './graph-layout.js'

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
  return <path className={line.isBack ? 'con-way con-back' : 'con-way'} d={line.path} markerEnd="url(#con-end)" />
}

const NAME_CHARS = 30

function PhaseNode({ box, x }: { readonly box: PhaseBox; readonly x: number }) {
  return (
    <Link to="/board" search={{ phase: box.id }} className="con-phase">
      <rect x={x} y={box.y} width={BOX.width} height={BOX.height} rx="8" />
      <text className="con-id" x={x + 14} y={box.y + 24}>
        {cut(box.id, NAME_CHARS)}
      </text>
      <text className="con-name" x={x + 14} y={box.y + 42}>
        {box.name === box.id ? '' : cut(box.name, NAME_CHARS)}
      </text>
      {box.count === 0 ? null : (
        <>
          <text className="con-count" x={x + BOX.width - 14} y={box.y + 28} textAnchor="end">
            {box.count}
          </text>
          <text className="con-name" x={x + BOX.width - 14} y={box.y + 44} textAnchor="end">
            {box.count === 1 ? 'task' : 'tasks'}
          </text>
        </>
      )}
    </Link>
  )
}

function GateMark({ line }: { readonly line: TransitionLine }) {
  const name = line.gate ?? line.when
  if (name === null) return null
  const { x, y } = line.mark
  const side = line.isBack ? -1 : 1
  const away = line.gate === null ? 8 : 17
  return (
    <g className={line.waiting > 0 ? 'con-gate con-gate-waits' : 'con-gate'}>
      <title>{line.gate === null ? `when ${name}` : `${name}: ${line.waiting} waiting`}</title>
      {line.gate === null ? null : (
        <>
          <circle cx={x} cy={y} r="11" />
          <path className="con-lock" d={`M${x - 3.5} ${y - 0.5}h7v5h-7zM${x - 2} ${y - 0.5}v-2a2 2 0 0 1 4 0v2`} />
        </>
      )}
      <text x={x + side * away} y={y + 4} textAnchor={line.isBack ? 'end' : 'start'}>
        {cut(name, LABEL_CHARS_MAX)}
        {line.waiting > 0 ? <tspan className="con-waits">{`  ${line.waiting} wait`}</tspan> : null}
      </text>
    </g>
  )
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`
}
