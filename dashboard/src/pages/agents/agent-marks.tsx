import type { ReactNode } from 'react'
import { useInbox } from '../../api/inbox.js'
import { Icon } from '../../ui/icon.js'
import { Badge } from '../../ui/marks.js'
import { Age, useNow } from '../../ui/time.js'
import { type AgentRow, findLiveness, isLooselyBound, nameBinding } from './agent-row.js'

const STEP_MS = 10_000

/** Whether it works, waits, is silent or gone, and since when. */
export function AgentLiveness({ agent }: { readonly agent: AgentRow }): ReactNode {
  const { word, tone } = findLiveness(agent, useNow(STEP_MS))
  const approval = useInbox().data?.items.find(({ kind, task_id }) => kind === 'approval' && task_id === agent.task_id)
  if (approval !== undefined && agent.task_id !== null && agent.status !== 'revoked')
    return (
      <span className="age-live">
        <Badge tone="pending">Waits for approval</Badge>
        <span className="muted">
          <Age since={approval.since} />
        </span>
      </span>
    )
  return (
    <span className="age-live">
      {tone === 'neutral' ? <span className="muted">{word}</span> : <Badge tone={tone}>{word}</Badge>}
      {agent.last_activity === null ? null : (
        <span className="muted">
          {word === 'Silent' ? 'for ' : ''}
          <Age since={agent.last_activity} />
          {word === 'Silent' ? '' : ' ago'}
        </span>
      )}
    </span>
  )
}

interface BindingProps {
  readonly agent: AgentRow
  /** Only the name: what it holds stands elsewhere on the page. */
  readonly brief?: boolean
}

/** How it is bound, and what that holds. */
export function Binding({ agent, brief = false }: BindingProps): ReactNode {
  if (agent.binding === undefined) return <span className="muted">–</span>
  const { kind, holds } = agent.binding
  const isLoose = isLooselyBound(agent.binding)
  return (
    <span className="age-binding">
      <span className={isLoose ? 'warn strong' : 'strong'}>
        <Icon name={kind === 'confined' ? 'shield' : isLoose ? 'warn' : 'lock'} size={14} /> {nameBinding(kind)}
      </span>
      {brief ? null : <span className="muted">{holds}</span>}
    </span>
  )
}

/** `12 of 14`: gates that opened at the first try, of those that opened. */
export function formatFirstTry({ reliability }: AgentRow): string {
  if (reliability === undefined || reliability.gates_passed === 0) return '–'
  return `${reliability.gates_first_try} of ${reliability.gates_passed}`
}
