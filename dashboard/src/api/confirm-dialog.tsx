import { Link } from '@tanstack/react-router'
import { type ReactNode, useState, useSyncExternalStore } from 'react'
import { Button } from '../ui/button.js'
import { Field } from '../ui/controls.js'
import { Dialog } from '../ui/dialog.js'
import { ActionProblem } from '../ui/states.js'
import { api } from './client.js'
import { type Confirmation, getPendingAct, type PendingAct, subscribeToPendingAct } from './confirm-act.js'
import { ApiProblem } from './problem.js'

/** Asks for the passkey or passphrase that a sensitive act needs. One for all pages, in the layout. */
export function ConfirmDialog(): ReactNode {
  const pending = useSyncExternalStore(subscribeToPendingAct, getPendingAct)
  return pending === null ? null : <ConfirmForm key={pending.call.path} pending={pending} />
}

function ConfirmForm({ pending }: { readonly pending: PendingAct }): ReactNode {
  const [passphrase, setPassphrase] = useState('')
  const [problem, setProblem] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const confirmWith = async (give: () => Promise<Confirmation>): Promise<void> => {
    setBusy(true)
    setProblem(null)
    try {
      setProblem(await pending.confirm(await give()))
    } catch (error) {
      setProblem(error)
    }
    setBusy(false)
  }
  const hasPasskey = pending.methods.includes('passkey')
  const hasPassphrase = pending.methods.includes('passphrase')
  return (
    <Dialog
      title="Confirm"
      onClose={pending.cancel}
      onSubmit={() => void confirmWith(async () => ({ passphrase }))}
      footer={
        <>
          <Button onClick={pending.cancel}>Cancel</Button>
          {hasPassphrase ? (
            <Button type="submit" look={hasPasskey ? undefined : 'primary'} busy={isBusy} disabled={passphrase === ''}>
              Confirm with passphrase
            </Button>
          ) : null}
          {hasPasskey ? (
            <Button
              look="primary"
              icon="finger"
              busy={isBusy}
              onClick={() => void confirmWith(() => signWithPasskey(pending))}
            >
              Confirm with passkey
            </Button>
          ) : null}
        </>
      }
    >
      <p>{pending.reason.detail}</p>
      {hasPassphrase ? (
        <Field
          label="Your passphrase"
          type="password"
          autoComplete="current-password"
          value={passphrase}
          onChange={(event) => setPassphrase(event.target.value)}
        />
      ) : null}
      {hasPasskey || hasPassphrase ? null : (
        <p>
          You have no passkey and no passphrase yet. Add one under{' '}
          <Link to="/settings" onClick={pending.cancel}>
            Settings
          </Link>
          , or set a passphrase with <code className="in">phaselock operator passphrase</code>.
        </p>
      )}
      <ActionProblem error={problem} />
    </Dialog>
  )
}

interface Challenge {
  readonly id: string
  readonly options: unknown
}

// The server makes the challenge out of the act itself: the signature is worth nothing for another one.
async function signWithPasskey({ call }: PendingAct): Promise<Confirmation> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const { id, options } = await api.post<Challenge>('/confirmations', {
    body: { act: call.act, params: call.params ?? {}, body: call.body ?? {} },
  })
  try {
    const optionsJSON = options as Parameters<typeof startAuthentication>[0]['optionsJSON']
    return { id, assertion: await startAuthentication({ optionsJSON }) }
  } catch (error) {
    throw new ApiProblem(0, 'passkey_failed', error instanceof Error ? error.message : 'The passkey was not used.', {
      remedy: 'Try again, or use your passphrase.',
    })
  }
}
