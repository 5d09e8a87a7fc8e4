import { type ReactNode, useEffect, useRef, useState } from 'react'
import { confirmAct } from '../../api/confirm-act.js'
import { keys } from '../../api/keys.js'
import { useAct } from '../../api/use-api.js'
import { useShortcuts } from '../../app/shortcuts.js'
import { Button } from '../../ui/button.js'
import { describeExcess, TextArea } from '../../ui/controls.js'
import { Dialog } from '../../ui/dialog.js'
import { ActionProblem } from '../../ui/states.js'
import type { Approval } from './approval-types.js'
import { DigestNote } from './digest-note.js'

const COMMENT_CHARS_MAX = 4000

interface Answer {
  readonly decision: 'approve' | 'reject'
  readonly comment: string
}

/** Approve, or reject with a comment. What was shown is what is answered: the digest goes with the answer. */
export function DecisionPanel({ approval }: { readonly approval: Approval }): ReactNode {
  const [comment, setComment] = useState('')
  const [isAsking, setAsking] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const deciding = useDecision(approval)
  const agent = approval.agent_id ?? 'the agent'
  const isUsable = comment.trim() !== '' && describeExcess(comment, COMMENT_CHARS_MAX) === null
  const startReject = () => {
    field.current?.scrollIntoView({ block: 'center' })
    field.current?.focus()
  }
  useShortcuts([
    { keys: 'a', does: 'Approve', run: () => setAsking(true) },
    { keys: 'r', does: 'Reject, with a comment', run: startReject },
  ])
  return (
    <section className="decide" aria-label="Your decision">
      <div className="decide__body">
        <h2 className="h2">Your decision</h2>
        <Button
          look="approve"
          size="lg"
          wide
          icon="ok-circle"
          shortcut="a"
          busy={deciding.isPending}
          onClick={() => setAsking(true)}
        >
          Approve…
        </Button>
        <p className="decide__hint">
          Opens the gate <span className="mono">{approval.gate}</span> once, for exactly this content.
        </p>
        <ActionProblem error={deciding.error} />
      </div>
      <form
        className="decide__body"
        onSubmit={(event) => {
          event.preventDefault()
          if (isUsable) deciding.mutate({ decision: 'reject', comment: comment.trim() })
        }}
      >
        <TextArea
          ref={field}
          label={`Reject, and tell ${agent} why`}
          rows={3}
          charsMax={COMMENT_CHARS_MAX}
          placeholder="The agent gets this comment as it is."
          value={comment}
          onChange={({ target }) => setComment(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
        <div className="acts">
          <Button type="submit" look="reject" icon="close" shortcut="r" busy={deciding.isPending} disabled={!isUsable}>
            Reject
          </Button>
          <span className="decide__hint">The task stays in {approval.phase}.</span>
        </div>
      </form>
      <div className="decide__body">
        <DigestNote approval={approval} />
      </div>
      <DecideBar isBusy={deciding.isPending} onApprove={() => setAsking(true)} onReject={startReject} />
      {isAsking && (
        <ApproveDialog
          approval={approval}
          onClose={() => setAsking(false)}
          onApprove={(words) => {
            setAsking(false)
            deciding.mutate({ decision: 'approve', comment: words })
          }}
        />
      )}
    </section>
  )
}

function useDecision(approval: Approval) {
  const { id, task_id: taskId, digest } = approval
  return useAct(
    ({ decision, comment }: Answer) =>
      confirmAct<Approval>({
        act: 'decideApproval',
        path: '/approvals/{id}/decision',
        params: { id },
        body: { decision, digest, ...(comment === '' ? {} : { comment }) },
      }),
    [keys.approval(id), keys.task(taskId), keys.inbox, keys.approvals()],
  )
}

interface BarProps {
  readonly isBusy: boolean
  readonly onApprove: () => void
  readonly onReject: () => void
}

/** The same two buttons at the bottom of a phone. */
function DecideBar({ isBusy, onApprove, onReject }: BarProps): ReactNode {
  return (
    <div className="decidebar">
      <p>You sign what is shown on this page.</p>
      <Button look="reject" size="lg" busy={isBusy} onClick={onReject}>
        Reject…
      </Button>
      <Button look="approve" size="lg" busy={isBusy} onClick={onApprove}>
        Approve…
      </Button>
    </div>
  )
}

interface ApproveProps {
  readonly approval: Approval
  readonly onClose: () => void
  readonly onApprove: (comment: string) => void
}

/** A key or a touch alone never approves: this asks once more, unless the passkey does. */
function ApproveDialog({ approval, onClose, onApprove }: ApproveProps): ReactNode {
  // The browser gives the focus to the first button of a dialog, which closes it.
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  const [comment, setComment] = useState('')
  const isUsable = describeExcess(comment, COMMENT_CHARS_MAX) === null
  const blocking = (approval.checks ?? []).filter(({ status }) => status !== 'passed').length
  return (
    <Dialog
      title="Approve this?"
      onClose={onClose}
      onSubmit={() => {
        if (isUsable) onApprove(comment.trim())
      }}
      footer={
        <>
          <Button onClick={onClose}>Not yet</Button>
          <Button type="submit" look="approve" ref={button} disabled={!isUsable}>
            Approve
          </Button>
        </>
      }
    >
      <p>
        {approval.agent_id ?? 'The agent'} may then leave {approval.phase} for {approval.target_phase}.{' '}
        {blocking > 0 && `${blocking} ${blocking === 1 ? 'check does' : 'checks do'} not hold. `}
        Where the server asks for it, you confirm with your passkey or passphrase.
      </p>
      <TextArea
        label="Comment"
        hint="Optional. Kept in the ledger with the approval."
        rows={2}
        charsMax={COMMENT_CHARS_MAX}
        value={comment}
        onChange={({ target }) => setComment(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
        }}
      />
    </Dialog>
  )
}
