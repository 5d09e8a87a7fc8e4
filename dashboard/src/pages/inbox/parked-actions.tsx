import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { confirmAct } from '../../api/confirm-act.js'
import type { InboxItem } from '../../api/inbox.js'
import { keys } from '../../api/keys.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button, toButtonClass } from '../../ui/button.js'
import { Pick } from '../../ui/controls.js'
import { ActionProblem } from '../../ui/states.js'
import { ActForm, Done } from './act-form.js'

const REASON = { label: 'Reason, for the ledger', placeholder: 'Optional' }

/** Let a parked task go on, with its agent or with another. */
export function ParkedActions({ item }: { readonly item: InboxItem }): ReactNode {
  const id = item.task_id ?? item.id
  const [asked, setAsked] = useState<'resume' | 'reassign' | null>(null)
  const [agent, setAgent] = useState('')
  const act = useAct(
    ({ name, reason }: { name: 'resume' | 'reassign'; reason: string }) =>
      confirmAct({
        act: `${name}Task`,
        path: `/tasks/{id}/${name}`,
        params: { id },
        body: {
          reason: reason === '' ? `${name} from the inbox` : reason,
          ...(name === 'resume' || agent === '' ? {} : { agent_id: agent }),
        },
      }),
    [keys.inbox, keys.task(id), keys.tasks()],
  )
  if (act.isSuccess) return <Done>{act.variables.name === 'resume' ? 'Resumed' : 'Free for another agent'}</Done>
  const close = (): void => setAsked(null)
  return (
    <>
      {asked === null ? (
        <div className="acts">
          <Button onClick={() => setAsked('resume')}>Resume…</Button>
          <Button onClick={() => setAsked('reassign')}>Reassign…</Button>
          <Link className={toButtonClass({ look: 'ghost' })} to="/tasks/$id" params={{ id }}>
            Open the task
          </Link>
        </div>
      ) : null}
      {asked === 'resume' ? (
        <ActForm
          says="The task goes on in the phase in which it was parked, with its retries renewed. Its rules stay as they are."
          field={REASON}
          submit="Resume"
          look="primary"
          busy={act.isPending}
          onSubmit={(reason) => act.mutate({ name: 'resume', reason })}
          onCancel={close}
        />
      ) : null}
      {asked === 'reassign' ? (
        <ActForm
          says="The tokens of its agent stop working. The work stays in the tree."
          more={<AgentPick value={agent} onChange={setAgent} />}
          field={REASON}
          submit="Reassign"
          look="primary"
          busy={act.isPending}
          onSubmit={(reason) => act.mutate({ name: 'reassign', reason })}
          onCancel={close}
        />
      ) : null}
      <ActionProblem error={act.error} />
    </>
  )
}

interface Agents {
  readonly agents: readonly { readonly agent_id: string; readonly status: string }[]
}

function AgentPick({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (id: string) => void
}): ReactNode {
  const { data } = useRead<Agents>(keys.agents, '/agents')
  const usable = (data?.agents ?? []).filter(({ status }) => status === 'idle' || status === 'working')
  return (
    <div>
      <Pick
        label="To"
        value={value}
        onChange={onChange}
        options={[
          { value: '', name: 'any agent' },
          ...usable.map(({ agent_id }) => ({ value: agent_id, name: agent_id })),
        ]}
      />
    </div>
  )
}
