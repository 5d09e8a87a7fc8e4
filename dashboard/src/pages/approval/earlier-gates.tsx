import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { GateBox } from '../../ui/checks.js'
import { Section } from '../../ui/layout-parts.js'
import type { TaskStateAt } from '../task/task-types.js'
import type { Approval } from './approval-types.js'

/** The gates that opened on the way to this one: what the tests showed, and what that is worth. */
export function EarlierGates({ approval }: { readonly approval: Approval }): ReactNode {
  const id = approval.task_id
  const { data } = useRead<TaskStateAt>(keys.task(id, 'state'), '/tasks/{id}/state', { path: { id } })
  const passed = (data?.gates ?? []).filter(
    ({ status, phase, checks }) => status === 'passed' && phase !== approval.phase && checks.length > 0,
  )
  if (passed.length === 0) return null
  return (
    <Section title="Gates before this one" count={passed.length} end={<span>not part of what you sign</span>}>
      {passed.map(({ id: gate, phase, checks }) => (
        <div className="approval-gate" key={gate}>
          <GateBox name={gate} phase={phase} checks={checks} />
        </div>
      ))}
    </Section>
  )
}
