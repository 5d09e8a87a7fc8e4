import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.js'
import { confirmAct } from '../../api/confirm-act.js'
import { keys } from '../../api/keys.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { Panel } from '../../ui/layout-parts.js'
import { Badge } from '../../ui/marks.js'
import { ActionProblem, Loaded } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { RevokeDialog } from './revoke-dialog.js'
import { SecretOnce } from './secret-once.js'
import type { Operator } from './settings-answers.js'

/** Who decides here, and how to add or remove somebody. */
export function OperatorList(): ReactNode {
  const query = useRead<{ readonly operators: readonly Operator[] }>(keys.operators, '/operators')
  const [revoking, setRevoking] = useState<Operator | null>(null)
  const revoke = useAct(
    ({ name, reason }: { readonly name: string; readonly reason: string }) =>
      api.post('/operators/{name}/revoke', { path: { name }, body: reason === '' ? {} : { reason } }),
    [keys.operators, keys.sessions],
  )
  return (
    <div className="set-columns">
      <Panel title="Operators" flush>
        <Loaded what="The list of operators" query={query}>
          {({ operators }) => (
            <ul className="set-rows">
              {operators.map((operator) => (
                <li key={operator.name}>
                  <div>
                    <b>{operator.name}</b> {operator.role === null ? null : <Badge>{operator.role}</Badge>}{' '}
                    {operator.revoked_at === null ? null : <Badge tone="refused">revoked</Badge>}
                    <p className="muted">
                      added <Time at={operator.added_at} />
                      {operator.role === 'ci' ? ', a machine: opens no gate and approves nothing for people' : ''}
                    </p>
                  </div>
                  {operator.revoked_at === null ? (
                    <Button look="reject" aria-label={`Revoke ${operator.name}`} onClick={() => setRevoking(operator)}>
                      Revoke…
                    </Button>
                  ) : null}
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </Panel>
      <AddOperator />
      {revoking === null ? null : (
        <RevokeDialog
          title={`Revoke ${revoking.name}`}
          detail="The token and all sessions of this operator end at once. What was decided stays decided."
          button={`Revoke ${revoking.name}`}
          error={revoke.error}
          isBusy={revoke.isPending}
          onClose={() => {
            revoke.reset()
            setRevoking(null)
          }}
          onRevoke={(reason) => revoke.mutate({ name: revoking.name, reason }, { onSuccess: () => setRevoking(null) })}
        />
      )}
    </div>
  )
}

interface AddedOperator {
  readonly name: string
  readonly role: string | null
  readonly operator_token: string
}

function AddOperator(): ReactNode {
  const [name, setName] = useState('')
  const [role, setRole] = useState('')
  const add = useAct(
    (body: { readonly name: string; readonly role?: string }) =>
      confirmAct<AddedOperator>({ act: 'addOperator', path: '/operators', body }),
    [keys.operators],
  )
  const send = (): void =>
    add.mutate(role.trim() === '' ? { name: name.trim() } : { name: name.trim(), role: role.trim() }, {
      onSuccess: () => {
        setName('')
        setRole('')
      },
    })
  return (
    <Panel title="Add an operator">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <p className="soft">
          An operator approves, answers and changes rules under this name. Machines get the role ci.
        </p>
        <Field
          label="Name"
          value={name}
          maxLength={64}
          required
          spellCheck={false}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label="Role"
          hint="A role that contracts can name as approver; may stay empty"
          value={role}
          maxLength={64}
          spellCheck={false}
          onChange={(event) => setRole(event.target.value)}
        />
        <ActionProblem error={add.error} />
        {add.data === undefined ? null : (
          <SecretOnce title={`Token of ${add.data.name}`} secret={add.data.operator_token} />
        )}
        <div>
          <Button type="submit" icon="plus" busy={add.isPending} disabled={name.trim() === ''}>
            Add…
          </Button>
        </div>
      </form>
    </Panel>
  )
}
