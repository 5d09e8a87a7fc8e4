import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { api } from '../../api/client.js'
import { keys } from '../../api/keys.js'
import { Icon } from '../../ui/icon.js'
import { EmptyState } from '../../ui/states.js'
import type { Behind } from './find-behind.js'

/** The tasks or approvals behind a number. Its address can be sent to a colleague. */
export function BehindPanel({
  behind,
  search,
}: {
  readonly behind: Behind | null
  readonly search: object
}): ReactNode {
  const panel = useRef<HTMLElement>(null)
  const title = behind?.title ?? 'This number is gone'
  // biome-ignore lint/correctness/useExhaustiveDependencies: another number is another place to look at
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'nearest' })
    panel.current?.focus({ preventScroll: true })
  }, [title])
  const { show: _show, ...rest } = search as { readonly show?: unknown }
  return (
    <section ref={panel} className="panel ins-behind" aria-label={title} tabIndex={-1}>
      <header className="panel__head">
        <h2 className="h3">{title}</h2>
        <div className="panel__end">
          <Link
            to="/insights"
            search={rest as never}
            className="btn btn--ghost btn--icon"
            aria-label="Close"
            resetScroll={false}
          >
            <Icon name="close" />
          </Link>
        </div>
      </header>
      {behind === null ? (
        <EmptyState icon="chart" title="This number is not in the chosen time">
          Choose another time above, or another number.
        </EmptyState>
      ) : (
        <BehindList behind={behind} />
      )}
    </section>
  )
}

function BehindList({ behind }: { readonly behind: Behind }): ReactNode {
  const isEmpty = behind.taskIds.length === 0 && behind.approvalIds.length === 0
  if (isEmpty) return <p className="ins-pad muted">Nothing is behind it: the number is zero.</p>
  return (
    <>
      <ul className="ins-tasks">
        {behind.approvalIds.map((id) => (
          <li key={id}>
            <Link to="/approvals/$id" params={{ id }} className="link">
              {id}
            </Link>
          </li>
        ))}
      </ul>
      <TaskNames ids={behind.taskIds} />
    </>
  )
}

interface TaskName {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly phase: string | null
}

function TaskNames({ ids }: { readonly ids: readonly string[] }): ReactNode {
  const tasks = useQueries({
    queries: ids.map((id) => ({
      queryKey: keys.task(id, 'name'),
      queryFn: () => api.get<{ readonly task?: TaskName } & Partial<TaskName>>('/tasks/{id}', { path: { id } }),
    })),
  })
  return (
    <ul className="ins-tasks">
      {ids.map((id, index) => {
        const answer = tasks[index]?.data
        const task = answer?.task ?? answer
        return (
          <li key={id}>
            <Link to="/tasks/$id" params={{ id }} className="link">
              {task?.title ?? id}
            </Link>
            <span className="meta">
              <span className="mono">{id}</span>
              {task?.status === undefined ? null : <span>{task.status.replaceAll('_', ' ')}</span>}
              {task?.phase === undefined || task.phase === null ? null : <span className="phase">{task.phase}</span>}
            </span>
          </li>
        )
      })}
    </ul>
  )
}
