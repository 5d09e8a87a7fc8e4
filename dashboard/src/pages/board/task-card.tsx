import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon, type IconName } from '../../ui/icon.js'
import { Avatar, PhaseBar, Refusals } from '../../ui/marks.js'
import { toPlainText } from '../../ui/plain-text.js'
import { Age, Lease } from '../../ui/time.js'
import { type Tone, toToneClass } from '../../ui/tone.js'
import { isPending, listPhaseStates, type TaskRow } from './board-data.js'

interface Props {
  readonly task: TaskRow
  readonly phases: readonly string[]
  readonly isCurrent: boolean
}

/** A task on the board: what it waits for, its title, who has it, for how long, and how far it is. */
export function TaskCard({ task, phases, isCurrent }: Props): ReactNode {
  const state = findState(task)
  const since = task.progress?.phase_entered_at ?? task.created_at
  return (
    <article
      className={isCurrent ? 'card card--sel' : 'card'}
      data-row={task.id}
      aria-current={isCurrent ? true : undefined}
    >
      {state === null ? null : (
        <p className={`card__state ${toToneClass(state.tone)}`}>
          <Icon name={state.icon} size={14} />
          <span className="cut">{state.says}</span>
        </p>
      )}
      <Link className="card__title" to="/tasks/$id" params={{ id: task.id }} title={toPlainText(task.title)}>
        {toPlainText(task.title)}
      </Link>
      <p className="card__row">
        <Holder task={task} />
        <Refusals count={task.progress?.refusals ?? 0} />
        <span className="nowrap">
          <Age since={since} />
        </span>
      </p>
      {task.lease_expires_at === null || task.progress === null ? null : (
        <p className="card__row">
          <span className="grow mono">{task.checking ? 'gates are checked' : task.id}</span>
          <Lease until={task.lease_expires_at} seconds={task.progress.lease_seconds} />
        </p>
      )}
      <PhaseBar phases={listPhaseStates(task, phases)} />
    </article>
  )
}

function Holder({ task }: { readonly task: TaskRow }): ReactNode {
  if (task.agent_id === null) return <span className="grow">{describeFree(task)}</span>
  return (
    <span className="agent grow">
      <Avatar name={task.agent_id} small />
      <span className="cut">{task.agent_id}</span>
    </span>
  )
}

/** Why nobody works on a task. */
export function describeFree({ status, depends_on }: TaskRow): string {
  if (status === 'completed') return 'done'
  if (status === 'cancelled') return 'cancelled'
  if (status === 'interrupted') return 'free, lease ran out'
  if (status === 'queued' && depends_on.length > 0) return `waits for ${depends_on.join(', ')}`
  return 'free, not claimed'
}

interface State {
  readonly says: string
  readonly icon: IconName
  readonly tone: Tone
}

/** What a task needs from a person; null when it needs nothing. */
export function findState(task: TaskRow): State | null {
  if (task.status === 'cancelled') return { says: 'Cancelled', icon: 'ban', tone: 'neutral' }
  if (task.status === 'parked')
    return { says: `Parked: ${task.progress?.parked_reason ?? 'no reason given'}`, icon: 'pause', tone: 'parked' }
  if (task.open_questions > 0) return { says: 'Asks a question', icon: 'ask', tone: 'running' }
  if (task.status === 'awaiting_approval' || isPending(task))
    return { says: 'Waits for approval', icon: 'lock', tone: 'pending' }
  return null
}
