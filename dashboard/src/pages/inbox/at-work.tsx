import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type InboxItem, useInbox } from '../../api/inbox.js'
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
  const waiting = findWaiting(useInbox().data?.items ?? [])
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
                <AgentAtWork key={agent.agent_id} agent={agent} waits={waiting.get(agent.task_id ?? '')} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {working.length > SHOWN_MAX ? <p className="muted">{working.length - SHOWN_MAX} more are at work.</p> : null}
    </Section>
  )
}

/** The tasks whose agents can do nothing before a person decides, with since when. */
function findWaiting(items: readonly InboxItem[]): ReadonlyMap<string, string> {
  return new Map(
    items.flatMap(({ kind, task_id, since }) => (kind === 'approval' && task_id !== null ? [[task_id, since]] : [])),
  )
}

interface AtWorkProps {
  readonly agent: AgentRow
  /** Since when it waits for an approval. */
  readonly waits: string | undefined
}

function AgentAtWork({ agent, waits }: AtWorkProps): ReactNode {
  const { agent_id: id, task_id: task, last_call: call } = agent
  const since = waits ?? call?.at
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
        {waits === undefined ? (
          <p className="doing__call">{call ? call.tool : 'no call yet'}</p>
        ) : (
          <p className="muted">waits for approval</p>
        )}
      </div>
      <div className="doing__end">
        <Phase>{agent.phase}</Phase>
        {since === undefined ? null : (
          <span>
            <Age since={since} />
          </span>
        )}
      </div>
    </li>
  )
}
