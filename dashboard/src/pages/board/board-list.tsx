import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { Icon } from '../../ui/icon.js'
import { Phase, PhaseBar, Refusals } from '../../ui/marks.js'
import { toPlainText } from '../../ui/plain-text.js'
import { Age } from '../../ui/time.js'
import { toToneClass } from '../../ui/tone.js'
import { listPhaseStates, type TaskRow } from './board-data.js'
import { findState } from './task-card.js'

const ROW_PX = 44

interface Props {
  readonly tasks: readonly TaskRow[]
  readonly phases: readonly string[]
  readonly current: string | null
}

/** The same tasks, one in a line. */
export function BoardList({ tasks, phases, current }: Props): ReactNode {
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [])
  const rows = useWindowVirtualizer({
    count: tasks.length,
    estimateSize: () => ROW_PX,
    overscan: 10,
    scrollMargin: top,
    getItemKey: (index) => tasks[index]?.id ?? index,
  })
  const at = current === null ? -1 : tasks.findIndex(({ id }) => id === current)
  useLayoutEffect(() => {
    if (at !== -1) rows.scrollToIndex(at, { align: 'auto' })
  }, [at, rows])
  return (
    <ul ref={list} className="tasklist" aria-label="Tasks" style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ key, index, start }) => {
        const task = tasks[index]
        return task === undefined ? null : (
          <li
            key={key}
            ref={rows.measureElement}
            data-index={index}
            aria-setsize={tasks.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - top}px)` }}
          >
            <TaskLine task={task} phases={phases} isCurrent={current === task.id} />
          </li>
        )
      })}
    </ul>
  )
}

function TaskLine({
  task,
  phases,
  isCurrent,
}: {
  readonly task: TaskRow
  readonly phases: readonly string[]
  readonly isCurrent: boolean
}): ReactNode {
  const state = findState(task)
  return (
    <div className="taskline" data-row={task.id} aria-current={isCurrent ? true : undefined}>
      <Phase>{task.phase}</Phase>
      <Link className="taskline__title" to="/tasks/$id" params={{ id: task.id }}>
        {toPlainText(task.title)}
      </Link>
      {state === null ? (
        <span className="taskline__state muted">{task.agent_id ?? ''}</span>
      ) : (
        <span className={`taskline__state ${toToneClass(state.tone)}`}>
          <Icon name={state.icon} size={14} />
          <span className="cut">{state.says}</span>
        </span>
      )}
      <span className="taskline__refs">
        <Refusals count={task.progress?.refusals ?? 0} />
      </span>
      <span className="taskline__bar">
        <PhaseBar phases={listPhaseStates(task, phases)} />
      </span>
      <span className="taskline__age muted nowrap">
        <Age since={task.progress?.phase_entered_at ?? task.created_at} />
      </span>
    </div>
  )
}
