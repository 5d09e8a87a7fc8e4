import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { confirmAct } from '../../api/confirm-act.js'
import type { InboxItem } from '../../api/inbox.js'
import { keys } from '../../api/keys.js'
import { useAct } from '../../api/use-api.js'
import { Button, toButtonClass } from '../../ui/button.js'
import { ActionProblem } from '../../ui/states.js'
import { ActForm, Done } from './act-form.js'

/** Read a contract, then trust it. */
export function ContractActions({ item }: { readonly item: InboxItem }): ReactNode {
  const [isAsked, setAsked] = useState(false)
  const act = useAct(
    () => confirmAct({ act: 'trustContract', path: '/contracts/{hash}/trust', params: { hash: item.id } }),
    [keys.inbox, keys.contracts],
  )
  if (act.isSuccess) return <Done>Trusted</Done>
  return (
    <>
      {isAsked ? (
        <ActForm
          says="Trusting lets the contract use everything that it asks for: its commands, agents and addresses."
          submit="Trust"
          look="primary"
          busy={act.isPending}
          onSubmit={() => act.mutate(undefined)}
          onCancel={() => setAsked(false)}
        />
      ) : (
        <div className="acts">
          <Link className={toButtonClass({})} to="/contracts/$hash" params={{ hash: item.id }}>
            Read it
          </Link>
          <Button onClick={() => setAsked(true)}>Trust…</Button>
        </div>
      )}
      <ActionProblem error={act.error} />
    </>
  )
}
