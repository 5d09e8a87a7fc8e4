import { Link } from '@tanstack/react-router'
import { type ReactNode, type Ref, useState } from 'react'
import { ArtifactView, type Json } from '../../ui/artifact/artifact-view.js'
import { CheckList } from '../../ui/checks.js'
import { DiffView } from '../../ui/diff/diff-view.js'
import { Icon } from '../../ui/icon.js'
import { Section } from '../../ui/layout-parts.js'
import { Code, Grade } from '../../ui/marks.js'
import { EmptyState, Note } from '../../ui/states.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { Age, Time } from '../../ui/time.js'
import type { Approval, ApprovalCheck, DiffStart, SinceLast } from './approval-types.js'

const REFUSALS_SHOWN = 20
const PATHS_SHOWN = 8

/** What changed since it was asked the last time. */
export function SinceLastPart({ since }: { readonly since: SinceLast }): ReactNode {
  const word =
    since.decision === 'reject' || since.decision === 'rejected' ? 'rejected it' : `decided (${since.decision})`
  const paths = since.changed_paths ?? []
  return (
    <Section
      title={since.by === null ? 'Since it was last asked' : `Since ${since.by} ${word}`}
      end={<Time at={since.at} />}
    >
      <div className="panel since">
        {since.comment !== '' && (
          <p className="quote agent-text">
            “<PlainText text={since.comment} charsMax={4000} />”
          </p>
        )}
        <p className="since__line">
          <Icon name="diff" size={14} />
          <span>
            {describeChanged(since.changed_paths)}
            <span className="mono">
              <PlainText text={paths.slice(0, PATHS_SHOWN).join(', ')} charsMax={1000} />
            </span>
            {paths.length > PATHS_SHOWN && ` and ${paths.length - PATHS_SHOWN} more`}
          </span>
        </p>
        <p className="since__line">
          <Icon name="file" size={14} />
          <span>
            {since.changed_artifacts.length === 0
              ? 'Every artifact is the same as then.'
              : `Changed: ${since.changed_artifacts.join(', ')}.`}
          </span>
        </p>
      </div>
    </Section>
  )
}

function describeChanged(paths: SinceLast['changed_paths']): string {
  if (paths === null) return 'The files of that time were not recorded.'
  if (paths.length === 0) return 'No file differs.'
  return paths.length === 1 ? '1 file differs: ' : `${paths.length} files differ: `
}

/** Every check with its grade and result; what does not hold comes first. */
export function ChecksPart({ checks }: { readonly checks: readonly ApprovalCheck[] }): ReactNode {
  const groups = groupByGate(checks)
  return (
    <Section title="Checks" count={checks.length} end={<span>reported &lt; artifact &lt; observed &lt; proved</span>}>
      {checks.length === 0 && <p className="muted">This gate has no checks: it rests on your decision alone.</p>}
      {groups.map(([gate, own]) => (
        <div className="gatebox approval-gate" key={gate}>
          <div className="gatebox__head">
            <span className="mono">{gate}</span>
          </div>
          <CheckList checks={own.toSorted((a, b) => rank(a) - rank(b))} />
        </div>
      ))}
    </Section>
  )
}

function rank({ status }: ApprovalCheck): number {
  return ['failed', 'warning', 'not_run', 'passed'].indexOf(status)
}

function groupByGate(checks: readonly ApprovalCheck[]): readonly (readonly [string, readonly ApprovalCheck[]])[] {
  const groups = new Map<string, ApprovalCheck[]>()
  for (const check of checks)
    groups.set(check.gate ?? 'artifacts', [...(groups.get(check.gate ?? 'artifacts') ?? []), check])
  return [...groups]
}

/** The artifacts that are to be approved, for reading. */
export function ArtifactsPart({ approval }: { readonly approval: Approval }): ReactNode {
  return Object.entries(approval.contents as Readonly<Record<string, Json>>).map(([type, content]) => {
    const artifact = approval.artifacts.find((one) => one.type === type)
    return (
      <Section
        key={type}
        title={<PlainText text={type} charsMax={100} />}
        label={type}
        end={<Grade grade={artifact?.grade ?? null} />}
      >
        <div className="panel approval-artifact">
          {content === null ? (
            <p className="muted">Its content is not kept any more.</p>
          ) : (
            <ArtifactView content={content} readable={omitShown(type, content)} />
          )}
        </div>
      </Section>
    )
  })
}

/** What the page shows as a diff and as checks is not shown as a table once more. */
function omitShown(type: string, content: Json): Json {
  if (type !== 'changes_to_review' || content === null || typeof content !== 'object' || Array.isArray(content))
    return content
  const { changes, checks: _, ...rest } = content as Readonly<Record<string, Json>>
  if (!Array.isArray(changes)) return content
  const files = changes.map((change: Json) => {
    if (change === null || typeof change !== 'object' || Array.isArray(change)) return change
    const { diff: __, ...file } = change as Readonly<Record<string, Json>>
    return file
  })
  return { ...rest, changes: files }
}

/** The diff to read. */
export function DiffPart({ approval }: { readonly approval: Approval }): ReactNode {
  const { diff } = approval
  if (diff == null) return null
  return (
    <Section
      title="Changes"
      count={`${diff.totals.files} ${diff.totals.files === 1 ? 'file' : 'files'}`}
      end={<span>{describeStart(diff.from)}</span>}
    >
      {approval.outdated === true && (
        <Note tone="pending" icon="warn" title="The work tree has changed since this was asked.">
          Shown is what was asked about. If the gate covers the files, an approval of this no longer opens it.
        </Note>
      )}
      {!diff.available && (
        <EmptyState icon="diff" title="The change cannot be shown">
          {diff.unavailable_reason ?? 'The work tree is not there any more.'}
        </EmptyState>
      )}
      {diff.available && diff.files.length === 0 && <p className="muted">No file has changed.</p>}
      {diff.available && diff.files.length > 0 && (
        <DiffView
          diff={diff}
          note={(file) =>
            file.unexplained ? (
              <Note tone="refused" icon="warn" title="No allowed call wrote this.">
                Revert or accept it on{' '}
                <Link
                  className="link"
                  to={`/tasks/${encodeURIComponent(approval.task_id)}`}
                  search={{ tab: 'changes' } as never}
                >
                  the task’s page
                </Link>
                .
              </Note>
            ) : null
          }
        />
      )}
    </Section>
  )
}

function describeStart(from: DiffStart | undefined): string {
  if (from === undefined) return ''
  return from.kind === 'start'
    ? 'since the start of the task'
    : `since the approval in ${from.phase ?? 'an earlier phase'}`
}

/** What was refused before this was asked. */
export function RefusalsPart({ approval }: { readonly approval: Approval }): ReactNode {
  const [shown, setShown] = useState(REFUSALS_SHOWN)
  const refusals = approval.refusals ?? []
  return (
    <Section title="Refused on the way" count={refusals.length}>
      {refusals.length === 0 && (
        <p className="muted">
          {approval.since_last == null ? 'Nothing was refused.' : 'Nothing was refused since the last request.'}
        </p>
      )}
      <ol className="past">
        {refusals.slice(0, shown).map(({ seq, at, phase, code, detail }) => (
          <li key={seq}>
            <Time at={at} />
            <div>
              <Code>{code}</Code> <span className="phase">{phase}</span>{' '}
              <Link
                className="link"
                to={`/tasks/${encodeURIComponent(approval.task_id)}`}
                search={{ at: seq } as never}
                aria-label={`Show event ${seq}`}
              >
                event {seq}
              </Link>
              <p className="agent-text">
                <PlainText text={detail} charsMax={1000} />
              </p>
            </div>
          </li>
        ))}
      </ol>
      {refusals.length > shown && (
        <button type="button" className="link" onClick={() => setShown(shown + 100)}>
          {refusals.length - shown} more
        </button>
      )}
    </Section>
  )
}

interface OutcomeProps {
  readonly approval: Approval
  readonly ref: Ref<HTMLDivElement>
}

/** What became of an approval that no longer waits. */
export function OutcomePart({ approval, ref }: OutcomeProps): ReactNode {
  const { decisions, status } = approval
  const last = decisions.at(-1)
  const isRejected = status === 'rejected'
  return (
    <div role="status" ref={ref} tabIndex={-1}>
      <Note
        tone={isRejected ? 'refused' : status === 'approved' || status === 'used' ? 'allowed' : 'pending'}
        icon={isRejected ? 'x-circle' : 'ok-circle'}
        title={OUTCOMES[status] ?? status}
      >
        {last === undefined ? null : (
          <>
            {last.by}, <Age since={last.at} /> ago.{' '}
            {last.comment !== null && last.comment !== '' && (
              <>
                “<PlainText text={last.comment} charsMax={4000} />”
              </>
            )}
          </>
        )}
      </Note>
    </div>
  )
}

const OUTCOMES: Readonly<Record<Approval['status'], string>> = {
  pending: 'It waits for more approvals',
  approved: 'Approved: the agent may go on',
  rejected: 'Rejected: the agent was told why',
  expired: 'It expired before anybody decided',
  used: 'Approved, and the gate has opened',
  void: 'Void: what was asked about has changed',
}
