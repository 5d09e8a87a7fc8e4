import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Button, toButtonClass } from '../../ui/button.js'
import { Menu } from '../../ui/controls.js'
import { Icon } from '../../ui/icon.js'
import { type Act, ActDialog } from './act-dialog.js'
import { MergeDialog, ReassignDialog, RewindDialog } from './choice-dialogs.js'
import type { Task, TaskStateAt } from './task-types.js'

type Shown = 'park' | 'resume' | 'cancel' | 'rewind' | 'reassign' | 'merge' | null

/** What an operator can do with a task, each with what it will do. */
export function TaskActions({
  task,
  state,
  unexplained,
}: {
  readonly task: Task
  readonly state: TaskStateAt | undefined
  /** Whether there is an unexplained change that is not in view. */
  readonly unexplained: boolean
}): ReactNode {
  const [shown, setShown] = useState<Shown>(null)
  const isOver = task.status === 'completed' || task.status === 'cancelled'
  const close = () => setShown(null)
  return (
    <div className="acts">
      {task.pending_approval !== null && (
        <Link
          className={toButtonClass({ look: 'primary' })}
          to={`/approvals/${encodeURIComponent(task.pending_approval.id)}`}
        >
          <Icon name="lock" size={14} />
          Decide…
        </Link>
      )}
      {unexplained && (
        <Link
          className={toButtonClass(task.pending_approval === null ? { look: 'primary' } : {})}
          to={`/tasks/${encodeURIComponent(task.id)}`}
          search={{ tab: 'changes' } as never}
        >
          <Icon name="diff" size={14} />
          Show the change
        </Link>
      )}
      {!isOver && task.status !== 'parked' && (
        <Button icon="pause" onClick={() => setShown('park')}>
          Pause…
        </Button>
      )}
      {task.status === 'parked' && (
        <Button icon="play" look="primary" onClick={() => setShown('resume')}>
          Resume…
        </Button>
      )}
      {task.visit > 0 && task.status !== 'cancelled' && (
        <Button icon="back" onClick={() => setShown('rewind')}>
          Rewind…
        </Button>
      )}
      {!isOver && <Button onClick={() => setShown('reassign')}>Reassign…</Button>}
      <Menu
        trigger={<Button icon="more" aria-label="More actions" />}
        items={[
          ...(task.worktree === undefined
            ? []
            : [
                {
                  name: 'Merge…',
                  icon: 'merge' as const,
                  detail: describeMerge(task),
                  onSelect: () => setShown('merge'),
                },
              ]),
          ...(isOver
            ? []
            : [
                {
                  name: 'Cancel…',
                  icon: 'stop' as const,
                  detail: 'Ends the task for good',
                  onSelect: () => setShown('cancel'),
                },
              ]),
          { name: 'Copy link', icon: 'copy', onSelect: () => void navigator.clipboard.writeText(window.location.href) },
        ]}
      />
      {(shown === 'park' || shown === 'resume' || shown === 'cancel') && (
        <ActDialog taskId={task.id} act={ACTS[shown](task)} onClose={close} />
      )}
      {shown === 'rewind' && <RewindDialog task={task} phases={state?.phases ?? []} onClose={close} />}
      {shown === 'reassign' && <ReassignDialog task={task} onClose={close} />}
      {shown === 'merge' && <MergeDialog task={task} onClose={close} />}
    </div>
  )
}

function describeMerge({ worktree }: Task): string {
  return worktree?.into == null ? 'Brings the work into a branch' : `Brings the work into ${worktree.into}`
}

const onTask = (task: Task, name: 'park' | 'resume' | 'cancel') => (reason: string) => ({
  ...{ act: `${name}Task`, path: `/tasks/{id}/${name}`, params: { id: task.id }, body: { reason } },
})

const ACTS: Readonly<Record<'park' | 'resume' | 'cancel', (task: Task) => Act>> = {
  park: (task) => ({
    title: 'Pause this task',
    does: `The calls of ${task.agent_id ?? 'its agent'} are refused until you resume the task. Work, artifacts and approvals stay as they are.`,
    button: 'Pause',
    call: onTask(task, 'park'),
  }),
  resume: (task) => ({
    title: 'Resume this task',
    does: `The task goes on in ${task.phase} with its refusals counted from zero. Its agent keeps it unless it works on another task; then anybody can claim it.`,
    button: 'Resume',
    call: onTask(task, 'resume'),
  }),
  cancel: (task) => ({
    title: 'Cancel this task',
    does: 'The task ends for good and its tokens are refused from now on. The files in the work tree stay as they are.',
    button: 'Cancel the task',
    look: 'reject',
    call: onTask(task, 'cancel'),
  }),
}
