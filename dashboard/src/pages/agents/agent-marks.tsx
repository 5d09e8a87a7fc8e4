import type { ReactNode } from 'react'
import { Icon } from '../../ui/icon.js'
import { Badge } from '../../ui/marks.js'
import { Age, useNow } from '../../ui/time.js'
import { type AgentRow, findLiveness, isLooselyBound, nameBinding } from './agent-row.js'

const STEP_MS = 10_000

/** Whether it works, waits, is silent or gone, and since when. */
export function AgentLiveness({ agent }: { readonly agent: AgentRow }): ReactNode {
  const { word, tone } = findLiveness(agent, useNow(STEP_MS))
  return (
    <span className="age-live">
      {tone === 'neutral' ? <span className="muted">{word}</span> : <Badge tone={tone}>{word}</Badge>}
      {agent.last_activity === null ? null : (
        <span className="muted">
          <Age since={agent.last_activity} /> ago
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
