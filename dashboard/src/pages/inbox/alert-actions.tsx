import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { InboxItem } from '../../api/inbox.js'
import { toButtonClass } from '../../ui/button.js'

/** An alert ends by itself; a person looks at its task. */
export function AlertActions({ item }: { readonly item: InboxItem }): ReactNode {
  return (
    <div className="acts">
      <Link className={toButtonClass({})} to="/tasks/$id" params={{ id: item.task_id ?? item.id }}>
        Open the task
      </Link>
    </div>
  )
}
