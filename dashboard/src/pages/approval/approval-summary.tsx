import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Delta } from '../../ui/diff/file-tree.js'
import { Badge } from '../../ui/marks.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { Age, formatDuration, useNow } from '../../ui/time.js'
import type { Tone } from '../../ui/tone.js'
import type { Approval } from './approval-types.js'

const STATUS: Readonly<Record<Approval['status'], { readonly name: string; readonly tone: Tone }>> = {
  pending: { name: 'Waits', tone: 'pending' },
  approved: { name: 'Approved', tone: 'allowed' },
  used: { name: 'Approved', tone: 'allowed' },
  rejected: { name: 'Rejected', tone: 'refused' },
  expired: { name: 'Expired', tone: 'neutral' },
  void: { name: 'Void', tone: 'neutral' },
}

/** What is asked, by whom, since when. */
export function ApprovalHead({ approval }: { readonly approval: Approval }): ReactNode {
  const now = useNow()
  const isPending = approval.status === 'pending'
  return (
    <header className="approval-head">
      <p className="taskhead__id">
        {approval.status === 'pending' ? (
          <Badge tone="pending" icon="lock">
            Waits <Age since={approval.requested_at} />
          </Badge>
        ) : (
          <Badge tone={STATUS[approval.status].tone}>{STATUS[approval.status].name}</Badge>
        )}
        {approval.since_last != null && <span>asked again</span>}
        {approval.status === 'pending' && (
          <span>expires in {formatDuration(Date.parse(approval.expires_at) - now)}</span>
        )}
        {approval.min_approvals > 1 && (
          <span>
            {approval.decisions.filter(({ decision }) => decision === 'approve').length} of {approval.min_approvals}{' '}
            approvals
          </span>
        )}
      </p>
      <h2 className="h1">
        <PlainText text={approval.task_title} charsMax={300} />
      </h2>
      <p className="soft">
        <b className="strong">{approval.agent_id ?? 'The agent'}</b> {isPending ? 'asks' : 'asked'} to leave{' '}
        <span className="phase">{approval.phase}</span> for <span className="phase">{approval.target_phase}</span> in{' '}
        <Link className="link" to={`/tasks/${encodeURIComponent(approval.task_id)}`}>
          {approval.task_id}
        </Link>
        {isPending ? '. Approving opens the gate ' : ', through the gate '}
        <span className="mono">{approval.gate}</span>.
      </p>
    </header>
  )
}

/** Four numbers to begin with. */
export function SummaryLine({ approval }: { readonly approval: Approval }): ReactNode {
  const checks = approval.checks ?? []
  const holds = checks.filter(({ status }) => status === 'passed').length
  const bad = checks.filter(({ status }) => status === 'failed').length
  const warnings = checks.filter(({ status }) => status === 'warning').length
  const graded = checks.filter(({ grade }) => grade !== null)
  const verified = graded.filter(({ grade }) => grade === 'observed' || grade === 'proved').length
  const reported = graded.filter(({ grade }) => grade === 'reported').length
  const files = approval.diff?.files ?? []
  const unexplained = files.filter((file) => file.unexplained).length
  const others = files.filter((file) => file.other_task !== null).length
  const refusals = approval.refusals ?? []
  return (
    <div className="sumline">
      <Fact
        name="Checks"
        value={checks.length === 0 ? 'none' : `${holds} hold`}
        tone={bad + warnings > 0 ? 'warn' : null}
      >
        {describeProblems(bad, warnings)}
      </Fact>
      <Fact name="Rests on" value={`${verified} of ${graded.length} verified`}>
        {reported === 0 ? 'nothing on the agent’s word' : `${reported} on the agent’s word`}
      </Fact>
      <Fact name="Change" value={describeChange(approval)} tone={unexplained > 0 ? 'bad' : null}>
        {approval.diff == null ? '' : describeFiles(approval.diff.totals.files, unexplained, others)}
      </Fact>
      <Fact name="Refused on the way" value={String(refusals.length)}>
        {describePhases(approval)}
      </Fact>
    </div>
  )
}

function describeFiles(files: number, unexplained: number, others: number): string {
  if (files === 0) return 'no file changed'
  const explained = unexplained === 0 ? 'all explained' : `${unexplained} unexplained`
  const foreign = others === 0 ? '' : `, ${others} by another task`
  return `${files} ${files === 1 ? 'file' : 'files'}, ${explained}${foreign}`
}

function describeChange({ diff }: Approval): ReactNode {
  if (diff == null || !diff.available) return 'not shown'
  return diff.totals.additions + diff.totals.deletions === 0 ? 'none' : <Delta {...diff.totals} />
}

interface FactProps {
  readonly name: string
  readonly value: ReactNode
  readonly tone?: 'warn' | 'bad' | null
  readonly children: ReactNode
}

function Fact({ name, value, tone = null, children }: FactProps): ReactNode {
  return (
    <div>
      <p className="sumline__name">{name}</p>
      <p className="sumline__value">{value}</p>
      <p className={tone ?? 'muted'}>{children}</p>
    </div>
  )
}

function describeProblems(bad: number, warnings: number): string {
  const parts = [
    bad > 0 ? `${bad} fail` : '',
    warnings > 0 ? `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}` : '',
  ]
  const told = parts.filter((part) => part !== '')
  return told.length === 0 ? 'none is in doubt' : told.join(', ')
}

function describePhases({ refusals = [], phase, since_last: last }: Approval): string {
  if (last != null) return 'since the last request'
  if (refusals.length === 0) return 'nothing was refused'
  const here = refusals.filter((one) => one.phase === phase).length
  return here === 0 ? `none in ${phase}` : `${here} in ${phase}`
}
