import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.js'
import { confirmAct } from '../../api/confirm-act.js'
import type { InboxItem } from '../../api/inbox.js'
import { keys } from '../../api/keys.js'
import { useAct } from '../../api/use-api.js'
import { Button, toButtonClass } from '../../ui/button.js'
import { ActionProblem } from '../../ui/states.js'
import { ActForm, Done } from './act-form.js'

type Way = 'revert' | 'accept'

const SAYS: Readonly<Record<Way, string>> = {
  revert: 'The files go back to what the last allowed call left. What they hold now is lost.',
  accept: 'The files stay as they are and count as explained. The gate judges them like any other change.',
}

/** Revert changes that no call explains, or accept them. */
export function UnexplainedActions({ item }: { readonly item: InboxItem }): ReactNode {
  const id = item.task_id ?? item.id
  const [asked, setAsked] = useState<Way | null>(null)
  const act = useAct(
    ({ way, reason }: { way: Way; reason: string }) => settle(id, way, reason),
    [keys.inbox, keys.task(id), keys.tasks()],
  )
  if (act.isSuccess) return <Done>{act.variables.way === 'revert' ? 'Reverted' : 'Accepted'}</Done>
  return (
    <>
      {asked === null ? (
        <div className="acts">
          <Link className={toButtonClass({})} to="/tasks/$id" params={{ id }} search={{ tab: 'changes' }}>
            Show the change
          </Link>
          <Button onClick={() => setAsked('revert')}>Revert…</Button>
          <Button look="ghost" onClick={() => setAsked('accept')}>
            Accept…
          </Button>
        </div>
      ) : (
        <ActForm
          key={asked}
          says={SAYS[asked]}
          field={{ label: 'Reason, for the ledger', placeholder: 'Optional' }}
          submit={asked === 'revert' ? 'Revert' : 'Accept'}
          look="primary"
          busy={act.isPending}
          onSubmit={(reason) => act.mutate({ way: asked, reason })}
          onCancel={() => setAsked(null)}
        />
      )}
      <ActionProblem error={act.error} />
    </>
  )
}

function settle(id: string, way: Way, reason: string): Promise<unknown> {
  const body = { reason: reason === '' ? `${way} from the inbox` : reason }
  if (way === 'revert') return api.post('/tasks/{id}/tree/revert', { path: { id }, body })
  return confirmAct({ act: 'acceptTree', path: '/tasks/{id}/tree/accept', params: { id }, body })
}
