import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Page } from '../../app/page.js'
import { KeyValues, Panel } from '../../ui/layout-parts.js'
import { EmptyState, FailedState, Loaded } from '../../ui/states.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { stripTerminal } from '../../ui/text/terminal-lines.js'
import { Time } from '../../ui/time.js'
import { EventLines } from '../audit/event-lines.js'
import type { EventPage } from '../audit/use-ledger.js'
import { formatCount } from '../insights/insight-numbers.js'
import { AgentLiveness, Binding, formatFirstTry } from './agent-marks.js'
import type { AgentRow, SpawnedAgent } from './agent-row.js'
import { LogView } from './log-view.js'
import { StopAgent } from './stop-agent.js'
import { useAgentLog } from './use-agent-log.js'
import './agents.css'

/** One agent: what it does, what it writes, and how to stop it. */
export function AgentPage(): ReactNode {
  const { id = '' } = useParams({ strict: false })
  const query = useRead<{ readonly agents: readonly AgentRow[] }>(keys.agents, '/agents')
  return (
    <Page title={id} crumbs={[{ name: 'Agents', to: '/agents' }]}>
      <Loaded what="The agent" query={query} rows={5}>
        {({ agents }) => {
          const agent = agents.find((one) => one.agent_id === id)
          if (agent !== undefined) return <OneAgent agent={agent} />
          return (
            <EmptyState icon="agent" title={`There is no agent ${id}`}>
              It may be registered with another server. <Link to="/agents">See all agents</Link>.
            </EmptyState>
          )
        }}
      </Loaded>
    </Page>
  )
}

function OneAgent({ agent }: { readonly agent: AgentRow }): ReactNode {
  const isRunning = agent.spawn !== null && agent.spawn.state !== 'ended'
  return (
    <div className="page--cols">
      <div className="stack">
        {agent.spawn === null ? null : <Output agentId={agent.agent_id} spawn={agent.spawn} />}
        <RecentEvents agentId={agent.agent_id} />
      </div>
      <div className="rail">
        <Facts agent={agent} />
        {isRunning ? <StopAgent agentId={agent.agent_id} /> : null}
      </div>
    </div>
  )
}

function Output({ agentId, spawn }: { readonly agentId: string; readonly spawn: SpawnedAgent }): ReactNode {
  const [tries, setTries] = useState(0)
  const log = useAgentLog(agentId, tries)
  const isTmux = spawn.adapter === 'tmux' && spawn.state !== 'ended'
  return (
    <>
      <Panel title="Output" sub={log.hasEnded ? 'it has ended' : 'live'} flush>
        {log.problem === null ? null : (
          <FailedState what="The output" error={log.problem} onRetry={() => setTries(tries + 1)} />
        )}
        {log.cut === 0 ? null : <p className="age-cut">The first {formatCount(log.cut)} lines are not shown.</p>}
        {log.lines.length > 0 ? <LogView lines={log.lines} label={`Output of ${agentId}`} /> : null}
        {log.lines.length === 0 && log.problem === null ? (
          <EmptyState icon="terminal" title={log.isLoading ? 'Loading the output' : 'It has written nothing yet'} />
        ) : null}
      </Panel>
      {isTmux ? <Screen agentId={agentId} /> : null}
    </>
  )
}

const SCREEN_POLL_MS = 2000

function Screen({ agentId }: { readonly agentId: string }): ReactNode {
  const query = useRead<{ readonly screen: string }>(keys.agent(agentId, 'screen'), '/agents/{id}/screen', {
    path: { id: agentId },
    refetchInterval: SCREEN_POLL_MS,
  })
  return (
    <Panel title="Terminal" sub="what its window shows now" flush>
      <Loaded what="The terminal" query={query}>
        {({ screen }) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
          <pre className="age-screen" tabIndex={0}>
            <PlainText text={stripTerminal(screen)} />
          </pre>
        )}
      </Loaded>
    </Panel>
  )
}

const RECENT_EVENTS = 30

function RecentEvents({ agentId }: { readonly agentId: string }): ReactNode {
  const query = useRead<EventPage>(keys.audit('agent', agentId), '/audit/query', {
    query: { agent_id: agentId, limit: RECENT_EVENTS },
  })
  return (
    <Panel
      title="Latest events"
      flush
      end={
        <Link to="/audit" search={{ agent_id: agentId }} className="link">
          All events
        </Link>
      }
    >
      <Loaded what="The latest events" query={query} rows={4}>
        {({ events, next_cursor, searched }) =>
          events.length === 0 && next_cursor !== null ? (
            <EmptyState icon="list" title="It has done nothing lately">
              {`None of the latest ${(searched.from - searched.to + 1).toLocaleString('en-GB')} events is about it. “All events” searches the older ones.`}
            </EmptyState>
          ) : events.length === 0 ? (
            <EmptyState icon="list" title="It has done nothing yet">
              Its calls appear here as it makes them.
            </EmptyState>
          ) : (
            <EventLines events={events} />
          )
        }
      </Loaded>
    </Panel>
  )
}

function Facts({ agent }: { readonly agent: AgentRow }): ReactNode {
  const { spawn, reliability, tokens } = agent
  const taskId = agent.task_id ?? spawn?.task_id ?? null
  const task =
    taskId === null ? (
      'none'
    ) : (
      <Link className="link" to="/tasks/$id" params={{ id: taskId }}>
        {taskId}
      </Link>
    )
  return (
    <Panel title="About this agent">
      <div className="stack">
        <AgentLiveness agent={agent} />
        <Binding agent={agent} />
        <KeyValues
          rows={[
            ['Task', task],
            ['Phase', agent.phase],
            ['Refusals', reliability === undefined ? null : formatCount(reliability.refusals)],
            ['Retries', reliability === undefined ? null : formatCount(reliability.retries)],
            ['Gates at first try', formatFirstTry(agent)],
            ['Tokens in', tokens === undefined ? null : formatCount(tokens.input)],
            ['Tokens out', tokens === undefined ? null : formatCount(tokens.output)],
            ['Capabilities', agent.capabilities.length === 0 ? 'any' : agent.capabilities.join(', ')],
            ['Token ends', agent.expires_at === null ? null : <Time key="ends" at={agent.expires_at} />],
            ...(spawn === null ? [] : listSpawnFacts(spawn)),
          ]}
        />
      </div>
    </Panel>
  )
}

function listSpawnFacts(spawn: SpawnedAgent): readonly (readonly [string, ReactNode])[] {
  return [
    ['Program', spawn.model === null ? spawn.harness : `${spawn.harness}, ${spawn.model}`],
    ['Started', <Time key="started" at={spawn.spawned_at} />],
    ['Restarts', String(spawn.restarts)],
    ['Ended as', spawn.outcome],
    ['Because', spawn.reason],
    ['Not enforced', spawn.unenforced.length === 0 ? null : spawn.unenforced.join(', ')],
  ]
}
