import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon } from '../../ui/icon.js'
import { Phase, PhaseBar, Refusals } from '../../ui/marks.js'
import { toPlainText } from '../../ui/plain-text.js'
import { Age } from '../../ui/time.js'
import { toToneClass } from '../../ui/tone.js'
import { listPhaseStates, type TaskRow } from './board-data.js'
import { describeFree, findState } from './task-card.js'
import { VirtualTasks } from './virtual-tasks.js'

const ROW_PX = 44

interface Props {
  readonly tasks: readonly TaskRow[]
  readonly phases: readonly string[]
  readonly current: string | null
}

/** The same tasks, one in a line. */
export function BoardList({ tasks, phases, current }: Props): ReactNode {
  return (
    <>
      <div className="tasklist-head" aria-hidden="true">
        <span>Phase</span>
        <span>Task</span>
        <span>Agent, or what it waits for</span>
        <span>Refused</span>
        <span className="taskline__bar">Phases done</span>
        <span className="taskline__age">In the phase</span>
      </div>
      <VirtualTasks tasks={tasks} current={current} className="tasklist" label="Tasks" height={ROW_PX}>
        {(task) => <TaskLine task={task} phases={phases} isCurrent={current === task.id} />}
      </VirtualTasks>
    </>
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
        <span className="taskline__state muted">{task.agent_id ?? describeFree(task)}</span>
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
