import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon } from '../../ui/icon.js'
import { Avatar, Badge } from '../../ui/marks.js'
import { dropToolList } from '../../ui/text/drop-tool-list.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { formatCount, Lease } from '../../ui/time.js'
import type { Tone } from '../../ui/tone.js'
import type { Task } from './task-types.js'

interface Props {
  readonly task: Task
  readonly unexplained: boolean
  readonly calls: number
  readonly actions: ReactNode
}

/** What the task is, who has it, and what can be done. */
export function TaskHead({ task, unexplained, calls, actions }: Props) {
  const state = describeState(task, unexplained)
  return (
    <header className="taskhead">
      <div className="taskhead__text">
        <p className="taskhead__id">
          {state !== null && <Badge tone={state.tone}>{state.word}</Badge>}
          <Link to={`/contracts/${task.contract.hash}`}>
            <Badge plain>
              {task.contract.name} {task.contract.version}
            </Badge>
          </Link>
          <span className="mono">{task.id}</span>
        </p>
        <h2 className="h1">
          <PlainText text={task.title} charsMax={300} />
        </h2>
        <p className="taskhead__facts">
          {task.agent_id === null ? (
            <Free task={task} />
          ) : (
            <span>
              <Avatar name={task.agent_id} small />
              <Link className="link" to={`/agents/${encodeURIComponent(task.agent_id)}`}>
                {task.agent_id}
              </Link>
            </span>
          )}
          {task.lease_expires_at !== null && task.lease_seconds !== undefined && task.status === 'active' && (
            <span>
              <Lease until={task.lease_expires_at} seconds={task.lease_seconds} />{' '}
              <span className="muted">of lease</span>
            </span>
          )}
          {task.refusals > 0 && (
            <span className="refs">
              <Icon name="ban" />
              {task.refusals} {task.refusals === 1 ? 'refusal' : 'refusals'}
            </span>
          )}
          <span>
            {formatCount(calls)} {calls === 1 ? 'call' : 'calls'}
          </span>
          {task.mode !== null && task.mode !== 'strict' && <Badge tone="pending">{task.mode}</Badge>}
        </p>
        {task.parked_reason !== null && (
          <p className="taskhead__reason agent-text">
            Parked: <PlainText text={dropToolList(task.parked_reason)} charsMax={1000} />
          </p>
        )}
      </div>
      {actions}
    </header>
  )
}

/** Why no agent works on it. */
function Free({ task }: { readonly task: Task }): ReactNode {
  if (task.status === 'completed' || task.status === 'cancelled') return null
  if (task.status !== 'queued' || task.depends_on.length === 0)
    return <span className="muted">no agent works on it</span>
  return (
    <span>
      <span className="muted">waits for</span>
      {task.depends_on.map((id) => (
        <Link key={id} className="link" to={`/tasks/${encodeURIComponent(id)}`}>
          {id}
        </Link>
      ))}
    </span>
  )
}

function describeState(task: Task, unexplained: boolean): { readonly tone: Tone; readonly word: string } | null {
  if (unexplained) return { tone: 'refused', word: 'Unexplained change' }
  switch (task.status) {
    case 'parked':
      return { tone: 'parked', word: 'Parked' }
    case 'awaiting_approval':
      return { tone: 'pending', word: 'Waits for approval' }
    case 'interrupted':
      return { tone: 'pending', word: 'Waits for an agent' }
    case 'queued':
      return { tone: 'neutral', word: 'Queued' }
    case 'completed':
      return { tone: 'allowed', word: 'Completed' }
    case 'cancelled':
      return { tone: 'refused', word: 'Cancelled' }
    default:
      return null
  }
}
