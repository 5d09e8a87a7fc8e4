import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import type { TreeDiff } from '../../ui/diff/diff-types.js'
import { DiffView } from '../../ui/diff/diff-view.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { PlainText } from '../../ui/text/plain-text.js'
import type { TaskStateAt } from './task-types.js'

const PATHS_SHOWN = 500

/** What had changed at an event: the tree as the visit before left it, and the paths that changed since. */
export function PastChanges({ state }: { readonly state: TaskStateAt }) {
  const before = state.task.visit - 1
  return (
    <div className="evidence">
      <section aria-label="Changed paths">
        <div className="sect">
          <h3 className="h2">
            {state.changed_paths.length} changed {state.changed_paths.length === 1 ? 'path' : 'paths'} at event{' '}
            {state.at.seq}
          </h3>
        </div>
        <PathList paths={state.changed_paths} />
        <p className="muted">
          These are the paths that calls had changed in this visit. Their content is kept when a visit ends.
        </p>
      </section>
      {before > 0 && <BoundaryDiff taskId={state.task.id} visit={before} />}
    </div>
  )
}

function PathList({ paths }: { readonly paths: readonly string[] }) {
  if (paths.length === 0) return <EmptyState icon="diff" title="No call of this visit had changed a file yet" />
  return (
    <>
      <ul className="paths">
        {paths.slice(0, PATHS_SHOWN).map((path) => (
          <li key={path} className="mono">
            <PlainText text={path} charsMax={500} />
          </li>
        ))}
      </ul>
      {paths.length > PATHS_SHOWN && <p className="muted">{paths.length - PATHS_SHOWN} more paths</p>}
    </>
  )
}

function BoundaryDiff({ taskId, visit }: { readonly taskId: string; readonly visit: number }) {
  const query = useRead<TreeDiff>(keys.audit('diff', taskId, visit), '/tasks/{id}/diff', {
    path: { id: taskId },
    query: { from: 'start', to: visit },
  })
  return (
    <section aria-label="Changes at the boundary">
      <div className="sect">
        <h3 className="h2">All changes until this visit began</h3>
      </div>
      <Loaded what="The change" query={query}>
        {(diff) => {
          if (!diff.available)
            return <EmptyState icon="diff" title={diff.unavailable_reason ?? 'The tree of that time was not kept'} />
          return diff.files.length === 0 ? <p className="muted">No file differed.</p> : <DiffView diff={diff} />
        }}
      </Loaded>
    </section>
  )
}
