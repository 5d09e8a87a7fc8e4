import type { ReactNode } from 'react'
import { Gate } from '../../ui/marks.js'
import type { Graph, TaskRow } from './board-data.js'
import { TaskCard } from './task-card.js'
import { VirtualTasks } from './virtual-tasks.js'

// Below this number all cards are in the page: the browser's search finds them, and there is nothing to measure.
const VIRTUAL_FROM = 60
const CARD_PX = 112
const GAP_PX = 8

interface Props {
  readonly graph: Graph
  readonly tasks: readonly TaskRow[]
  readonly current: string | null
}

/** A column for each phase of the contract, with the gate that leads out of it. */
export function BoardColumns({ graph, tasks, current }: Props): ReactNode {
  const phases = graph.phases.map(({ id }) => id)
  const byPhase = Map.groupBy(tasks, (task) => task.phase)
  return (
    <>
      <nav className="jump" aria-label="Phases">
        {phases.map((phase) => (
          <a key={phase} className="chip" href={`#column-${phase}`}>
            {phase} <span className="n">{byPhase.get(phase)?.length ?? 0}</span>
          </a>
        ))}
      </nav>
      <section
        className={`board board--${Math.min(phases.length, 8)}`}
        aria-label="Phases of the contract"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: where the columns do not fit, the arrow keys scroll them
        tabIndex={0}
      >
        {phases.map((phase) => (
          <Column
            key={phase}
            phase={phase}
            phases={phases}
            gate={findGate(graph, phase)}
            tasks={byPhase.get(phase) ?? []}
            current={current}
          />
        ))}
      </section>
    </>
  )
}

interface ColumnProps {
  readonly phase: string
  readonly phases: readonly string[]
  readonly gate: { readonly name: string; readonly waiting: number } | null
  readonly tasks: readonly TaskRow[]
  readonly current: string | null
}

function Column({ phase, phases, gate, tasks, current }: ColumnProps): ReactNode {
  const says = gate === null ? '' : `Gate ${gate.name}${gate.waiting === 0 ? '' : `: ${gate.waiting} waiting`}`
  return (
    <section className="col" id={`column-${phase}`} aria-label={`${phase}, ${tasks.length} tasks`}>
      <header className="col__head">
        {gate === null ? null : (
          <Gate className="col__gate" state={gate.waiting > 0 ? 'waiting' : 'ahead'} label={says} />
        )}
        <h2 className="col__name">
          <span className="phase">{phase}</span>
          <span className="count">{tasks.length}</span>
        </h2>
        <p className="col__sub">{gate === null ? 'the end' : `then ${gate.name}`}</p>
      </header>
      {tasks.length < VIRTUAL_FROM ? (
        <ul className="cards">
          {tasks.map((task) => (
            <li key={task.id}>
              <TaskCard task={task} phases={phases} isCurrent={current === task.id} />
            </li>
          ))}
        </ul>
      ) : (
        <VirtualTasks tasks={tasks} current={current} className="cards cards--virtual" height={CARD_PX} gap={GAP_PX}>
          {(task) => <TaskCard task={task} phases={phases} isCurrent={current === task.id} />}
        </VirtualTasks>
      )}
    </section>
  )
}

function findGate(graph: Graph, phase: string): ColumnProps['gate'] {
  const next = graph.transitions.find(({ from, kind }) => from === phase && kind === 'forward')
  if (next === undefined || next.gate === null) return null
  return { name: next.gate, waiting: graph.waiting[next.gate] ?? 0 }
}
