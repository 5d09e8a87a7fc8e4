import { type ReactNode, useState } from 'react'
import { confirmAct, type SensitiveCall } from '../../api/confirm-act.js'
import { keys } from '../../api/keys.js'
import { useAct } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { describeExcess, TextArea } from '../../ui/controls.js'
import { Dialog } from '../../ui/dialog.js'
import { ActionProblem } from '../../ui/states.js'

const REASON_CHARS_MAX = 2000

export interface Act {
  readonly title: string
  /** What it will do, in a sentence or two. */
  readonly does: string
  readonly button: string
  readonly look?: 'primary' | 'reject'
  /** Further fields; what they hold is in the call. */
  readonly fields?: ReactNode
  readonly call: (reason: string) => SensitiveCall
}

interface Props {
  readonly taskId: string
  readonly act: Act
  readonly onClose: () => void
}

/** Says what an action will do, asks for a reason, and does it. */
export function ActDialog({ taskId, act, onClose }: Props) {
  const [reason, setReason] = useState('')
  const doing = useAct((call: SensitiveCall) => confirmAct<unknown>(call), [keys.task(taskId), keys.inbox])
  const isUsable = reason.trim() !== '' && describeExcess(reason, REASON_CHARS_MAX) === null
  const send = () => {
    if (!isUsable || doing.isPending) return
    doing.mutate(act.call(reason.trim()), { onSuccess: onClose })
  }
  return (
    <Dialog
      title={act.title}
      onClose={onClose}
      onSubmit={send}
      footer={
        <>
          <Button onClick={onClose}>Not now</Button>
          <Button type="submit" look={act.look ?? 'primary'} busy={doing.isPending} disabled={!isUsable}>
            {act.button}
          </Button>
        </>
      }
    >
      <div className="act">
        <p>{act.does}</p>
        {act.fields}
        <TextArea
          label="Reason"
          hint="Kept in the ledger."
          rows={2}
          required
          charsMax={REASON_CHARS_MAX}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
        <ActionProblem error={doing.error} />
      </div>
    </Dialog>
  )
}
