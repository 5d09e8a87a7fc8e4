import { useState } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Pick } from '../../ui/controls.js'
import { ActDialog } from './act-dialog.js'
import type { PhaseState, Task } from './task-types.js'

interface Props {
  readonly task: Task
  readonly onClose: () => void
}

interface CheckBoxProps {
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
  readonly children: string
}

function CheckBox({ checked, onChange, children }: CheckBoxProps) {
  return (
    <label className="checkbox">
      <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} />
      {children}
    </label>
  )
}

/** Takes a task back to a phase it has been in. */
export function RewindDialog({ task, phases, onClose }: Props & { readonly phases: readonly PhaseState[] }) {
  const visited = phases.filter(({ visits }) => visits.length > 0)
  const [to, setTo] = useState(visited.at(-2)?.id ?? task.phase)
  const [restores, setRestores] = useState(false)
  return (
    <ActDialog
      taskId={task.id}
      onClose={onClose}
      act={{
        title: 'Rewind this task',
        does: `The task goes back to ${to}. Artifacts, evidence and approvals of the phases after it become void, and every token with them.`,
        button: `Rewind to ${to}`,
        fields: (
          <>
            <Pick
              label="Back to"
              value={to}
              options={visited.map(({ id }) => ({ value: id, name: id }))}
              onChange={setTo}
            />
            <CheckBox checked={restores} onChange={setRestores}>
              Also put the work tree back to how it was when that phase was last entered
            </CheckBox>
          </>
        ),
        call: (reason) => ({
          act: 'rewindTask',
          path: '/tasks/{id}/rewind',
          params: { id: task.id },
          body: { to_phase: to, reason, ...(restores ? { restore_tree: true } : {}) },
        }),
      }}
    />
  )
}

interface Agents {
  readonly agents: readonly { readonly agent_id: string; readonly status: string }[]
}

const ANYBODY = ''

/** Takes a task from its agent. */
export function ReassignDialog({ task, onClose }: Props) {
  const { data } = useRead<Agents>(keys.agents, '/agents')
  const [agent, setAgent] = useState(ANYBODY)
  const others = (data?.agents ?? []).filter(
    ({ agent_id, status }) => agent_id !== task.agent_id && status !== 'revoked',
  )
  return (
    <ActDialog
      taskId={task.id}
      onClose={onClose}
      act={{
        title: 'Reassign this task',
        does: `${task.agent_id ?? 'Nobody'} holds the task. Its tokens for the task become void, and ${agent === ANYBODY ? 'the next agent that asks can claim it' : `only ${agent} can claim it next`}. The work stays.`,
        button: 'Reassign',
        fields: (
          <Pick
            label="To"
            value={agent}
            options={[
              { value: ANYBODY, name: 'any agent that claims it' },
              ...others.map(({ agent_id }) => ({ value: agent_id, name: agent_id })),
            ]}
            onChange={setAgent}
          />
        ),
        call: (reason) => ({
          act: 'reassignTask',
          path: '/tasks/{id}/reassign',
          params: { id: task.id },
          body: { reason, ...(agent === ANYBODY ? {} : { agent_id: agent }) },
        }),
      }}
    />
  )
}

/** Brings the work of a task with its own work tree into a branch. */
export function MergeDialog({ task, onClose }: Props) {
  const [commits, setCommits] = useState(false)
  const [forces, setForces] = useState(false)
  const isCompleted = task.status === 'completed'
  return (
    <ActDialog
      taskId={task.id}
      onClose={onClose}
      act={{
        title: 'Merge this task',
        does: `The branch ${task.worktree?.branch ?? ''} is merged into ${task.worktree?.into ?? 'the branch it was made from'}. ${isCompleted ? 'The work tree of the task is removed.' : 'The task is not completed: its gates have not all opened.'}`,
        button: 'Merge',
        fields: (
          <>
            <CheckBox checked={commits} onChange={setCommits}>
              Commit uncommitted changes first
            </CheckBox>
            {!isCompleted && (
              <CheckBox checked={forces} onChange={setForces}>
                Merge although the task is not completed
              </CheckBox>
            )}
          </>
        ),
        call: (reason) => ({
          act: 'mergeTask',
          path: '/tasks/{id}/merge',
          params: { id: task.id },
          body: { reason, ...(commits ? { commit: true } : {}), ...(forces ? { force: true } : {}) },
        }),
      }}
    />
  )
}
