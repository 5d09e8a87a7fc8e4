import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Page } from '../../app/page.js'
import { useShortcuts } from '../../app/shortcuts.js'
import { toButtonClass } from '../../ui/button.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { ArtifactsPart, ChecksPart, DiffPart, OutcomePart, RefusalsPart, SinceLastPart } from './approval-parts.js'
import { ApprovalHead, SummaryLine } from './approval-summary.js'
import type { Approval } from './approval-types.js'
import { DecisionPanel } from './decision-panel.js'
import { DigestNote } from './digest-note.js'
import { EarlierGates } from './earlier-gates.js'
import '../task/task.css'
import './approval.css'

/** One approval: what is asked, what it rests on, and the decision. */
export function ApprovalPage(): ReactNode {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const query = useRead<Approval>(keys.approval(id), '/approvals/{id}', { path: { id } })
  return (
    <Page title={`Approval ${id}`} crumbs={[{ name: 'Inbox', to: '/' }]}>
      {query.data === undefined && query.error?.status === 404 ? (
        <EmptyState
          icon="search"
          title="There is no such approval"
          actions={
            <Link className={toButtonClass({})} to="/">
              Open the inbox
            </Link>
          }
        >
          The address may be mistyped. What waits for you is in the inbox.
        </EmptyState>
      ) : (
        <Loaded what="The approval" query={query} rows={6}>
          {(approval) => <ApprovalBody approval={approval} />}
        </Loaded>
      )}
    </Page>
  )
}

function ApprovalBody({ approval }: { readonly approval: Approval }): ReactNode {
  const body = useRef<HTMLDivElement>(null)
  const isPending = approval.status === 'pending'
  const outcome = useFocusAfterDecision(isPending)
  useApprovalKeys(body)
  return (
    <div className={`page--cols approval${isPending ? ' has-decidebar' : ''}`}>
      <div className="approval-main" ref={body}>
        <ApprovalHead approval={approval} />
        {(!isPending || approval.decisions.length > 0) && <OutcomePart approval={approval} ref={outcome} />}
        <SummaryLine approval={approval} />
        {approval.since_last != null && <SinceLastPart since={approval.since_last} />}
        <ChecksPart checks={approval.checks ?? []} />
        {isPending && <EarlierGates approval={approval} />}
        <ArtifactsPart approval={approval} />
        <DiffPart approval={approval} />
        <RefusalsPart approval={approval} />
      </div>
      <aside className="rail rail--sticky">
        {isPending ? (
          <DecisionPanel key={approval.digest} approval={approval} />
        ) : (
          <section className="decide" aria-label="What was signed">
            <div className="decide__body">
              <DigestNote approval={approval} />
            </div>
          </section>
        )}
        <p className="hint-keys muted hide-s">
          <kbd>j</kbd> <kbd>k</kbd> next and previous section, <kbd>u</kbd> back to the inbox
        </p>
      </aside>
    </div>
  )
}

// The buttons go with the decision, and the focus with them: what came of it takes it.
function useFocusAfterDecision(isPending: boolean): RefObject<HTMLDivElement | null> {
  const outcome = useRef<HTMLDivElement>(null)
  const wasPending = useRef(isPending)
  useEffect(() => {
    if (wasPending.current && !isPending && document.activeElement === document.body) outcome.current?.focus()
    wasPending.current = isPending
  }, [isPending])
  return outcome
}

function useApprovalKeys(body: RefObject<HTMLElement | null>): void {
  const navigate = useNavigate()
  const move = (step: number): void => {
    const parts = [...(body.current?.children ?? [])].filter((part) => part.tagName === 'SECTION') as HTMLElement[]
    const top = (part: HTMLElement): number => part.getBoundingClientRect().top - 80
    const next = step > 0 ? parts.find((part) => top(part) > 1) : parts.findLast((part) => top(part) < -1)
    if (next === undefined) window.scrollTo({ top: step > 0 ? document.body.scrollHeight : 0 })
    else window.scrollTo({ top: window.scrollY + top(next) })
  }
  useShortcuts([
    { keys: 'j', does: 'Next section', run: () => move(1) },
    { keys: 'k', does: 'Previous section', run: () => move(-1) },
    { keys: 'u', does: 'Back to the inbox', run: () => void navigate({ to: '/' }) },
  ])
}
