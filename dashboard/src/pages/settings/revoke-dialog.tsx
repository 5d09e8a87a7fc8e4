import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { Dialog } from '../../ui/dialog.js'
import { ActionProblem } from '../../ui/states.js'

interface Props {
  readonly title: string
  /** What it will do. */
  readonly detail: string
  readonly button: string
  readonly error: unknown
  readonly isBusy: boolean
  readonly onClose: () => void
  readonly onRevoke: (reason: string) => void
}

/** Asks for a reason, which the ledger keeps, before something ends for good. */
export function RevokeDialog({ title, detail, button, error, isBusy, onClose, onRevoke }: Props): ReactNode {
  const [reason, setReason] = useState('')
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => onRevoke(reason.trim())}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="reject" type="submit" busy={isBusy}>
            {button}
          </Button>
        </>
      }
    >
      <p className="soft">{detail}</p>
      <Field
        label="Reason"
        hint="Kept in the ledger"
        value={reason}
        maxLength={1000}
        onChange={(event) => setReason(event.target.value)}
      />
      <ActionProblem error={error} />
    </Dialog>
  )
}
