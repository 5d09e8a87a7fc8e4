import type { ReactNode } from 'react'
import { toProblem } from '../api/problem.js'
import { Button } from './button.js'
import { Icon, type IconName } from './icon.js'
import { Code } from './marks.js'
import { type Tone, toToneClass } from './tone.js'

interface StateProps {
  readonly icon?: IconName
  readonly tone?: Tone
  readonly title: string
  readonly children?: ReactNode
  readonly actions?: ReactNode
}

/** Nothing to show: what that means, and what to do next. */
export function EmptyState({ icon = 'ok-circle', tone = 'neutral', title, children, actions }: StateProps): ReactNode {
  return (
    <div className={`state ${tone === 'neutral' ? '' : toToneClass(tone)}`}>
      <Icon name={icon} size={20} />
      <h3 className="h3">{title}</h3>
      {children === undefined ? null : <p>{children}</p>}
      {actions === undefined ? null : <div className="acts">{actions}</div>}
    </div>
  )
}

interface FailedProps {
  /** What could not be loaded: "The inbox". */
  readonly what: string
  readonly error: unknown
  readonly onRetry?: () => void
}

/** Something failed: what, why, and how to try again. */
export function FailedState({ what, error, onRetry }: FailedProps): ReactNode {
  const problem = toProblem(error)
  const details = JSON.stringify({ what, status: problem.status, code: problem.code, detail: problem.detail })
  return (
    <div className="state tone-refused" role="alert">
      <Icon name="x-circle" size={20} />
      <h3 className="h3">{what} could not be loaded</h3>
      <p>
        {problem.status === 0 ? null : `The server answered ${problem.status} `}
        <Code>{problem.code}</Code>: <Prose text={`${problem.detail} ${problem.remedy ?? ''}`} />
      </p>
      <div className="acts">
        {onRetry === undefined ? null : (
          <Button icon="retry" onClick={onRetry}>
            Try again
          </Button>
        )}
        <Button look="ghost" onClick={() => void navigator.clipboard.writeText(details)}>
          Copy details
        </Button>
      </div>
    </div>
  )
}

/** Rows of the height of what comes, so that nothing jumps. */
export function LoadingState({ what, rows = 3 }: { readonly what: string; readonly rows?: number }): ReactNode {
  return (
    <div role="status">
      <div className="skel" aria-hidden="true">
        {Array.from({ length: rows }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no other identity
          <div key={index}>
            <i />
            <i />
            <i />
          </div>
        ))}
      </div>
      <span className="sr">Loading {what}</span>
    </div>
  )
}

interface Loadable<T> {
  readonly data: T | undefined
  readonly error: unknown
  readonly isPending: boolean
  readonly refetch: () => unknown
}

interface LoadedProps<T> {
  /** As a subject: "The inbox". */
  readonly what: string
  readonly query: Loadable<T>
  readonly rows?: number
  readonly children: (data: T) => ReactNode
}

/** Shows a query in whichever state it is. An answer that is there stays while a newer one fails to load. */
export function Loaded<T>({ what, query, rows, children }: LoadedProps<T>): ReactNode {
  if (query.data !== undefined) return children(query.data)
  if (query.error !== null) return <FailedState what={what} error={query.error} onRetry={() => void query.refetch()} />
  return <LoadingState what={what} {...(rows === undefined ? {} : { rows })} />
}

interface NoteProps {
  readonly tone: Tone
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
  readonly actions?: ReactNode
}

/** Something about this very part of the page that needs an action. */
export function Note({ tone, icon, title, children, actions }: NoteProps): ReactNode {
  return (
    <div className={`note ${toToneClass(tone)}`}>
      <Icon name={icon} />
      <div>
        <b>{title}</b>
        {children === undefined ? null : <p>{children}</p>}
      </div>
      {actions === undefined ? null : <div className="acts">{actions}</div>}
    </div>
  )
}

/** The refusal of an action, beside the button that asked for it. */
export function ActionProblem({ error }: { readonly error: unknown }): ReactNode {
  if (error === null || error === undefined) return null
  const problem = toProblem(error)
  return (
    <div role="alert">
      <Note tone="refused" icon="ban" title={problem.detail}>
        <Code>{problem.code}</Code> <Prose text={problem.remedy ?? ''} />
      </Note>
    </div>
  )
}

/** A sentence of the server, with what stands between backticks as code. */
export function Prose({ text }: { readonly text: string }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no other identity
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}
