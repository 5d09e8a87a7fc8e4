import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { CheckList } from '../../ui/checks.js'
import { Icon } from '../../ui/icon.js'
import { Section } from '../../ui/layout-parts.js'
import { Disclosure } from '../task/disclosure.js'
import type { GateState, TaskStateAt } from '../task/task-types.js'
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
      <div className="panel approval-gates">
        {passed.map((gate) => (
          <Disclosure key={gate.id} summary={<GateSummary gate={gate} />}>
            <CheckList checks={gate.checks} />
          </Disclosure>
        ))}
      </div>
    </Section>
  )
}

const GRADES = ['proved', 'observed', 'artifact', 'reported'] as const

function GateSummary({ gate: { id, phase, checks } }: { readonly gate: GateState }): ReactNode {
  const holds = checks.filter(({ status }) => status === 'passed').length
  const counts = GRADES.map((grade) => ({ grade, count: checks.filter((check) => check.grade === grade).length }))
  const isWhole = holds === checks.length
  return (
    <>
      <span className={isWhole ? 'ok' : 'warn'}>
        <Icon name={isWhole ? 'check' : 'warn'} size={14} />
      </span>
      <span className="phase">{phase}</span>
      <span className="mono">{id}</span>
      <span className="muted approval-gates__holds">
        {holds} of {checks.length} {checks.length === 1 ? 'check holds' : 'checks hold'}
      </span>
      <span className="row-end">
        {counts
          .filter(({ count }) => count > 0)
          .map(({ grade, count }) => `${count} ${grade}`)
          .join(', ')}
      </span>
    </>
  )
}
