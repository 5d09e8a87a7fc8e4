import { type ReactNode, useState } from 'react'
import { confirmAct } from '../../api/confirm-act.js'
import { keys } from '../../api/keys.js'
import type { Session } from '../../api/session.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { Panel } from '../../ui/layout-parts.js'
import { ActionProblem } from '../../ui/states.js'

const CHARS_MIN = 12

/** A passphrase confirms decisions where no passkey is at hand, above all on the command line. */
export function PassphraseForm(): ReactNode {
  const session = useRead<Session | null>(keys.session, '/session').data ?? null
  const [word, setWord] = useState('')
  const [again, setAgain] = useState('')
  const save = useAct(
    (passphrase: string) => confirmAct({ act: 'setPassphrase', path: '/passphrase', body: { passphrase } }),
    [keys.session],
  )
  const isShort = word !== '' && word.length < CHARS_MIN
  const isOther = again !== '' && again !== word
  const onSaved = (): void => {
    setWord('')
    setAgain('')
  }
  return (
    <Panel title="Passphrase" sub={session?.has_passphrase === true ? 'one is set' : 'none is set'}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(word, { onSuccess: onSaved })
        }}
      >
        <p className="soft">
          Confirms decisions without a passkey, above all on the command line. The server stores only a hash of it.
        </p>
        <input
          className="sr"
          type="text"
          autoComplete="username"
          tabIndex={-1}
          aria-hidden="true"
          readOnly
          value={session?.operator.name ?? ''}
        />
        <Field
          label="New passphrase"
          type="password"
          autoComplete="new-password"
          value={word}
          hint={`At least ${CHARS_MIN} characters`}
          wrong={isShort ? `At least ${CHARS_MIN} characters` : null}
          onChange={(event) => setWord(event.target.value)}
        />
        <Field
          label="Repeat the passphrase"
          type="password"
          autoComplete="new-password"
          value={again}
          wrong={isOther ? 'The two differ' : null}
          onChange={(event) => setAgain(event.target.value)}
        />
        <ActionProblem error={save.error} />
        {save.isSuccess && word === '' ? (
          <p className="ok" role="status">
            The passphrase is set.
          </p>
        ) : null}
        <div>
          <Button type="submit" busy={save.isPending} disabled={word.length < CHARS_MIN || word !== again}>
            {session?.has_passphrase === true ? 'Change the passphrase…' : 'Set the passphrase'}
          </Button>
        </div>
      </form>
    </Panel>
  )
}
