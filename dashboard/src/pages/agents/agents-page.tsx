import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Page } from '../../app/page.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { Age } from '../../ui/time.js'
import { formatCount } from '../insights/insight-numbers.js'
import { AgentLiveness, Binding, formatFirstTry } from './agent-marks.js'
import { type AgentRow, nameBinding, sortAgents } from './agent-row.js'
import './agents.css'

/** Who there is, how each is bound, whether it is alive, and how reliable it has been. */
export function AgentsPage(): ReactNode {
  const query = useRead<{ readonly agents: readonly AgentRow[] }>(keys.agents, '/agents')
  return (
    <Page title="Agents">
      <Loaded what="The list of agents" query={query} rows={5}>
        {({ agents }) =>
          agents.length === 0 ? (
            <EmptyState icon="agent" title="No agent has been registered yet">
              Register one with <code>phaselock agent add NAME</code>, or start one in a work tree with{' '}
              <code>phaselock claude</code>.
            </EmptyState>
          ) : (
            <>
              <AgentTable agents={sortAgents(agents, Date.now())} />
              <Bindings agents={agents} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

function AgentTable({ agents }: { readonly agents: readonly AgentRow[] }): ReactNode {
  return (
    <div className="panel">
      <table className="table table--stack age-table" aria-label="Agents">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Works on</th>
            <th scope="col">Bound by</th>
            <th scope="col" className="r">
              Refused
            </th>
            <th scope="col" className="r">
              Gates at first try
            </th>
            <th scope="col" className="r">
              Tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <Row key={agent.agent_id} agent={agent} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What each kind of binding holds, once for all agents that have it. */
function Bindings({ agents }: { readonly agents: readonly AgentRow[] }): ReactNode {
  const kinds = new Map(agents.flatMap(({ binding }) => (binding === undefined ? [] : [[binding.kind, binding.holds]])))
  if (kinds.size === 0) return null
  return (
    <dl className="age-kinds">
      {[...kinds].map(([kind, holds]) => (
        <div key={kind}>
          <dt>{nameBinding(kind)}</dt>
          <dd>{holds}</dd>
        </div>
      ))}
    </dl>
  )
}

function Row({ agent }: { readonly agent: AgentRow }): ReactNode {
  const { reliability, tokens } = agent
  return (
    <tr>
      <td>
        <Link to="/agents/$id" params={{ id: agent.agent_id }} className="open-link age-name">
          {agent.agent_id}
        </Link>
        <AgentLiveness agent={agent} />
      </td>
      <td>
        <WorksOn agent={agent} />
      </td>
      <td>
        <Binding agent={agent} brief />
      </td>
      <td className="r" data-name="Refused">
        {reliability === undefined ? '–' : formatCount(reliability.refusals)}
      </td>
      <td className="r" data-name="At first try">
        {formatFirstTry(agent)}
      </td>
      <td className="r" data-name="Tokens">
        {tokens === undefined ? '–' : formatCount(tokens.input + tokens.output)}
      </td>
    </tr>
  )
}

function WorksOn({ agent }: { readonly agent: AgentRow }): ReactNode {
  const taskId = agent.task_id ?? agent.spawn?.task_id ?? null
  if (taskId === null) return <span className="muted">nothing</span>
  const call = agent.last_call ?? null
  return (
    <>
      <span className="meta">
        {agent.phase === null ? null : <span className="phase">{agent.phase}</span>}
        <Link to="/tasks/$id" params={{ id: taskId }}>
          {taskId}
        </Link>
      </span>
      {call === null ? null : (
        <span className="age-call">
          <code>{call.tool}</code> <Age since={call.at} /> ago
        </span>
      )}
    </>
  )
}
