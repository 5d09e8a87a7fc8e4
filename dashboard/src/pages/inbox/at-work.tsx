import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Section } from '../../ui/layout-parts.js'
import { Avatar, Phase } from '../../ui/marks.js'
import { Loaded } from '../../ui/states.js'
import { Age } from '../../ui/time.js'

interface AgentRow {
  readonly agent_id: string
  readonly status: string
  readonly task_id: string | null
  readonly phase: string | null
  readonly last_activity: string | null
  readonly last_call?: { readonly tool: string; readonly at: string; readonly phase: string } | null
}

const SHOWN_MAX = 12

/** Agents at work, with their phase and last call. */
export function AtWork(): ReactNode {
  const agents = useRead<{ readonly agents: readonly AgentRow[] }>(keys.agents, '/agents')
  const working = (agents.data?.agents ?? []).filter(({ status }) => status === 'working' || status === 'reviewing')
  return (
    <Section
      title="At work"
      count={agents.data === undefined ? undefined : working.length}
      end={
        <Link className="link" to="/agents">
          All agents
        </Link>
      }
    >
      <Loaded what="The agents" query={agents} rows={3}>
        {() =>
          working.length === 0 ? (
            <p className="muted">No agent is working.</p>
          ) : (
            <ul className="doing">
              {working.slice(0, SHOWN_MAX).map((agent) => (
                <AgentAtWork key={agent.agent_id} agent={agent} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {working.length > SHOWN_MAX ? <p className="muted">{working.length - SHOWN_MAX} more are at work.</p> : null}
    </Section>
  )
}

function AgentAtWork({ agent }: { readonly agent: AgentRow }): ReactNode {
  const { agent_id: id, task_id: task, last_call: call } = agent
  return (
    <li>
      <Avatar name={id} />
      <div className="doing__main">
        <p className="doing__top">
          <Link className="doing__agent" to="/agents/$id" params={{ id }}>
            {id}
          </Link>
          {task === null ? null : (
            <Link className="doing__task" to="/tasks/$id" params={{ id: task }}>
              {task}
            </Link>
          )}
        </p>
        <p className="doing__call">{call ? call.tool : 'no call yet'}</p>
      </div>
      <div className="doing__end">
        <Phase>{agent.phase}</Phase>
        {call ? (
          <span>
            <Age since={call.at} />
          </span>
        ) : null}
      </div>
    </li>
  )
}
