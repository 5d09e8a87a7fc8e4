import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.js'
import { confirmAct } from '../../api/confirm-act.js'
import { keys } from '../../api/keys.js'
import { ApiProblem } from '../../api/problem.js'
import type { Session } from '../../api/session.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { Panel } from '../../ui/layout-parts.js'
import { ActionProblem, EmptyState, Loaded } from '../../ui/states.js'
import { Age, Time } from '../../ui/time.js'
import type { Passkey } from './settings-answers.js'

const TOUCHED = [keys.passkeys, keys.session]

/** The passkeys that confirm this operator's decisions. */
export function PasskeyList(): ReactNode {
  const query = useRead<{ readonly passkeys: readonly Passkey[] }>(keys.passkeys, '/passkeys')
  const session = useRead<Session | null>(keys.session, '/session').data ?? null
  const remove = useAct(
    ({ id }: Passkey) => confirmAct({ act: 'revokePasskey', path: '/passkeys/{id}/revoke', params: { id }, body: {} }),
    TOUCHED,
  )
  return (
    <Panel title="Passkeys" sub="confirm what opens a gate or loosens a rule" flush>
      <Loaded what="The list of passkeys" query={query} rows={1}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <EmptyState icon="finger" title="No passkey yet">
              {session?.may_register_passkey === false
                ? 'To add the first one, log in with the link that the server printed at its first start. A passphrase confirms your decisions as well.'
                : 'Add one. A stolen token is then not enough to decide in your name.'}
            </EmptyState>
          ) : (
            <ul className="set-rows">
              {passkeys.map((passkey) => (
                <li key={passkey.id}>
                  <div>
                    <b>{passkey.name}</b>
                    <p className="muted">
                      {passkey.operator}, added <Time at={passkey.created_at} />
                      {passkey.last_used_at === null ? (
                        ', never used'
                      ) : (
                        <>
                          , used <Age since={passkey.last_used_at} /> ago
                        </>
                      )}
                    </p>
                  </div>
                  <Button
                    look="reject"
                    aria-label={`Remove the passkey ${passkey.name}`}
                    busy={remove.isPending && remove.variables?.id === passkey.id}
                    onClick={() => remove.mutate(passkey)}
                  >
                    Remove…
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <div className="set-pad stack">
        <ActionProblem error={remove.error} />
        {session === null || session.may_register_passkey ? <AddPasskey /> : null}
      </div>
    </Panel>
  )
}

function AddPasskey(): ReactNode {
  const [name, setName] = useState('')
  const add = useAct((given: string) => registerPasskey(given), TOUCHED)
  return (
    <form
      className="set-add"
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate(name.trim(), { onSuccess: () => setName('') })
      }}
    >
      <Field
        label="Name of a new passkey"
        placeholder="laptop"
        value={name}
        maxLength={64}
        required
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" icon="finger" busy={add.isPending} disabled={name.trim() === ''}>
        Add a passkey…
      </Button>
      <ActionProblem error={add.error} />
    </form>
  )
}

async function registerPasskey(name: string): Promise<unknown> {
  const { startRegistration } = await import('@simplewebauthn/browser')
  const { options } = await api.post<{ readonly options: unknown }>('/passkeys/options')
  const optionsJSON = options as Parameters<typeof startRegistration>[0]['optionsJSON']
  const response = await startRegistration({ optionsJSON }).catch((error: unknown) => {
    throw new ApiProblem(0, 'passkey_failed', error instanceof Error ? error.message : 'The passkey was not made.', {
      remedy: 'Try again. Passkeys need this page to be opened as localhost or over https.',
    })
  })
  return confirmAct({ act: 'addPasskey', path: '/passkeys', body: { name, response } })
}
