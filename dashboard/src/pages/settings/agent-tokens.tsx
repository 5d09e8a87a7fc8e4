import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.js'
import { keys } from '../../api/keys.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { Panel } from '../../ui/layout-parts.js'
import { Badge } from '../../ui/marks.js'
import { ActionProblem, EmptyState, Loaded } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import type { AgentRow } from '../agents/agent-row.js'
import { RevokeDialog } from './revoke-dialog.js'
import { SecretOnce } from './secret-once.js'

/** Which agents hold a token and until when; a new token, and revoking one. */
export function AgentTokens(): ReactNode {
  const query = useRead<{ readonly agents: readonly AgentRow[] }>(keys.agents, '/agents')
  const [revoking, setRevoking] = useState<string | null>(null)
  const revoke = useAct(
    ({ id, reason }: { readonly id: string; readonly reason: string }) =>
      api.post('/agents/{id}/revoke', { path: { id }, body: reason === '' ? {} : { reason } }),
    [keys.agents],
  )
  return (
    <div className="set-columns">
      <Panel title="Tokens of agents" sub="thirty days each" flush>
        <Loaded what="The list of agents" query={query}>
          {({ agents }) => (
            <TokenRows agents={agents.filter((agent) => agent.expires_at !== null)} onRevoke={setRevoking} />
          )}
        </Loaded>
      </Panel>
      <NewToken />
      {revoking === null ? null : (
        <RevokeDialog
          title={`Revoke the tokens of ${revoking}`}
          detail="They end at once. A task that it holds is free when its lease ends; reassign it to free it now."
          button="Revoke"
          error={revoke.error}
          isBusy={revoke.isPending}
          onClose={() => {
            revoke.reset()
            setRevoking(null)
          }}
          onRevoke={(reason) => revoke.mutate({ id: revoking, reason }, { onSuccess: () => setRevoking(null) })}
        />
      )}
    </div>
  )
}

interface RowsProps {
  readonly agents: readonly AgentRow[]
  readonly onRevoke: (id: string) => void
}

function TokenRows({ agents, onRevoke }: RowsProps): ReactNode {
  if (agents.length === 0)
    return (
      <EmptyState icon="agent" title="No agent has a token">
        Make one under New token, or with <code>phaselock agent add NAME</code>.
      </EmptyState>
    )
  return (
    <ul className="set-rows">
      {agents.map((agent) => (
        <li key={agent.agent_id}>
          <div>
            <Link to="/agents/$id" params={{ id: agent.agent_id }} className="link">
              {agent.agent_id}
            </Link>{' '}
            {agent.status === 'revoked' ? <Badge tone="refused">revoked</Badge> : null}
            <p className="muted">
              registered <Time at={agent.registered_at} />
              {agent.expires_at === null || agent.status === 'revoked' ? null : (
                <>
                  , ends <Time at={agent.expires_at} />
                </>
              )}
              {agent.capabilities.length === 0 ? '' : `, ${agent.capabilities.join(', ')}`}
            </p>
          </div>
          {agent.status === 'revoked' ? null : (
            <Button
              look="reject"
              aria-label={`Revoke the tokens of ${agent.agent_id}`}
              onClick={() => onRevoke(agent.agent_id)}
            >
              Revoke…
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

interface Minted {
  readonly agent_id: string
  readonly agent_token: string
}

function NewToken(): ReactNode {
  const [id, setId] = useState('')
  const mint = useAct((agentId: string) => api.post<Minted>('/agents', { body: { agent_id: agentId } }), [keys.agents])
  return (
    <Panel title="New token">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          mint.mutate(id.trim(), { onSuccess: () => setId('') })
        }}
      >
        <p className="soft">
          Registers an agent. An agent that is known already gets a new token, and the older one ends.
        </p>
        <Field
          label="Name of the agent"
          value={id}
          maxLength={64}
          required
          spellCheck={false}
          onChange={(event) => setId(event.target.value)}
        />
        <ActionProblem error={mint.error} />
        {mint.data === undefined ? null : (
          <SecretOnce title={`Token of ${mint.data.agent_id}`} secret={mint.data.agent_token} />
        )}
        <div>
          <Button type="submit" icon="plus" busy={mint.isPending} disabled={id.trim() === ''}>
            Make a token
          </Button>
        </div>
      </form>
    </Panel>
  )
}
