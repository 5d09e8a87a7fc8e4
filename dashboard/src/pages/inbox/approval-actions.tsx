import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Schema } from '../../api/answers.js'
import { api } from '../../api/client.js'
import { confirmAct } from '../../api/confirm-act.js'
import type { InboxItem } from '../../api/inbox.js'
import { keys } from '../../api/keys.js'
import { queryClient } from '../../api/session.js'
import { useAct, useRead } from '../../api/use-api.js'
import { useShortcuts } from '../../app/shortcuts.js'
import { Button, toButtonClass } from '../../ui/button.js'
import { Icon } from '../../ui/icon.js'
import { Delta, Grade } from '../../ui/marks.js'
import { ShortcutHint } from '../../ui/shortcut-hint.js'
import { ActionProblem } from '../../ui/states.js'
import { formatClock } from '../../ui/time.js'
import { ActForm, Done } from './act-form.js'

type Approval = Schema<'ApprovalDetails'>

interface Props {
  readonly item: InboxItem
  readonly isCurrent: boolean
  /** Whether to load the evidence at once. */
  readonly isNear: boolean
}

type Decision = 'approve' | 'reject'

const COMMENT_CHARS_MAX = 4000

/** Approve or reject in place, with the evidence in one line. */
export function ApprovalActions({ item, isCurrent, isNear }: Props): ReactNode {
  const [asked, setAsked] = useState<Decision | null>(null)
  const approval = useRead<Approval>(keys.approval(item.id), '/approvals/{id}', {
    path: { id: item.id },
    enabled: isNear || isCurrent || asked !== null,
  })
  const act = useAct(
    ({ decision, comment }: { decision: Decision; comment: string }) => decide(item.id, decision, comment),
    [keys.inbox, keys.approval(item.id), keys.tasks()],
  )
  if (act.isSuccess) return <Done>{act.variables.decision === 'approve' ? 'Approved' : 'Rejected'}</Done>
  const { data } = approval
  // The evidence would push the buttons away from a pointer that is about to press one of them.
  if (isNear && approval.isLoading && asked === null) return <p className="muted">Loading what the checks found…</p>
  return (
    <>
      {data === undefined ? null : <EvidenceLine approval={data} />}
      {isCurrent ? <DecisionKeys onAsk={setAsked} /> : null}
      {asked === null ? (
        <div className="acts">
          <Link
            className={toButtonClass({ look: isCurrent ? 'primary' : undefined })}
            to="/approvals/$id"
            params={{ id: item.id }}
          >
            Review
            {isCurrent ? <ShortcutHint keys="Enter" /> : null}
          </Link>
          <Button shortcut={isCurrent ? 'a' : undefined} onClick={() => setAsked('approve')}>
            Approve…
          </Button>
          <Button look="reject" shortcut={isCurrent ? 'r' : undefined} onClick={() => setAsked('reject')}>
            Reject…
          </Button>
        </div>
      ) : null}
      {asked === 'approve' ? (
        <ActForm
          says={
            data === undefined
              ? 'Approving opens the gate for exactly what the agent handed in.'
              : `Approving opens ${data.gate}: ${data.agent_id ?? 'the agent'} may go from ${data.phase} to ${data.target_phase}. It holds for exactly what was handed in (digest ${data.digest.slice(0, 12)}…), and is void when that changes.`
          }
          submit="Approve"
          look="approve"
          busy={act.isPending}
          onSubmit={() => act.mutate({ decision: 'approve', comment: '' })}
          onCancel={() => setAsked(null)}
        />
      ) : null}
      {asked === 'reject' ? (
        <ActForm
          says={`The gate stays closed. ${data?.agent_id ?? 'The agent'} gets your comment as it is.`}
          field={{ label: 'What has to change', required: true }}
          charsMax={COMMENT_CHARS_MAX}
          submit="Reject"
          look="reject"
          busy={act.isPending}
          onSubmit={(comment) => act.mutate({ decision: 'reject', comment })}
          onCancel={() => setAsked(null)}
        />
      ) : null}
      <ActionProblem error={act.error} />
    </>
  )
}

// Only while the row is under the cursor: the keys then mean this approval.
function DecisionKeys({ onAsk }: { readonly onAsk: (decision: Decision) => void }): null {
  useShortcuts([
    { keys: 'a', does: 'Approve…', run: () => onAsk('approve') },
    { keys: 'r', does: 'Reject…', run: () => onAsk('reject') },
  ])
  return null
}

async function decide(id: string, decision: Decision, comment: string): Promise<unknown> {
  const { digest } =
    queryClient.getQueryData<Approval>(keys.approval(id)) ??
    (await api.get<Approval>('/approvals/{id}', { path: { id } }))
  const body = { decision, digest, ...(comment === '' ? {} : { comment }) }
  return confirmAct({ act: 'decideApproval', path: '/approvals/{id}/decision', params: { id }, body })
}

function formatChanged(paths: readonly string[] | null): string {
  if (paths === null) return 'the files of that time were not recorded'
  if (paths.length === 0) return 'no file differs since then'
  return paths.length === 1 ? '1 file differs since then' : `${paths.length} files differ since then`
}

function EvidenceLine({ approval }: { readonly approval: Approval }): ReactNode {
  const { checks = [], diff, since_last: last } = approval
  const count = (status: string): number => checks.filter((check) => check.status === status).length
  const [held, warned] = [count('passed'), count('warning')]
  const reported = checks.filter(({ grade }) => grade === 'reported').length
  return (
    <>
      {last ? (
        <p className="item__body">
          Asked again. It was {last.decision === 'reject' ? 'rejected' : 'approved'} at {formatClock(last.at)}
          {last.comment === '' ? '' : ` with “${last.comment}”`}; {formatChanged(last.changed_paths)}.
        </p>
      ) : null}
      <div className="evidence-line">
        {held === 0 ? null : (
          <span className="ok">
            <Icon name="check" size={14} />
            {held} {held === 1 ? 'check holds' : 'checks hold'}
          </span>
        )}
        {warned === 0 ? null : (
          <span className="warn">
            <Icon name="warn" size={14} />
            {warned} {warned === 1 ? 'warning' : 'warnings'}
          </span>
        )}
        {reported === 0 ? null : (
          <span>
            {reported} {reported === 1 ? 'rests' : 'rest'} on the agent’s word <Grade grade="reported" />
          </span>
        )}
        {diff === undefined ? null : diff.totals.files === 0 ? (
          <span>no files changed</span>
        ) : (
          <span>
            <Delta {...diff.totals} /> in {diff.totals.files} {diff.totals.files === 1 ? 'file' : 'files'}
          </span>
        )}
      </div>
    </>
  )
}
