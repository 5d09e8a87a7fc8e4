import { Button } from '../../ui/button.js'
import { EmptyState } from '../../ui/states.js'
import { PlainText } from '../../ui/text/plain-text.js'
import type { TaskStateAt } from './task-types.js'

const PATHS_SHOWN = 500

interface Props {
  readonly state: TaskStateAt
  /** Shows the diff of today's tree against the start of a visit. */
  readonly onVisit: (visit: number) => void
}

/** What had changed at an event: the paths. Whole trees are kept at the boundaries of visits. */
export function PastChanges({ state, onVisit }: Props) {
  const paths = state.changed_paths
  const visit = state.task.visit
  return (
    <section aria-label="Changes">
      <div className="sect">
        <h3 className="h2">
          {paths.length} changed {paths.length === 1 ? 'path' : 'paths'} at event {state.at.seq}
        </h3>
        {visit > 0 && (
          <div className="sect__end">
            <Button onClick={() => onVisit(visit)}>Compare today with the start of this visit</Button>
          </div>
        )}
      </div>
      {paths.length === 0 ? (
        <EmptyState icon="diff" title="Nothing had changed yet" />
      ) : (
        <ul className="paths">
          {paths.slice(0, PATHS_SHOWN).map((path) => (
            <li key={path} className="mono">
              <PlainText text={path} charsMax={500} />
            </li>
          ))}
        </ul>
      )}
      {paths.length > PATHS_SHOWN && <p className="muted">{paths.length - PATHS_SHOWN} more paths</p>}
      <p className="muted">Contents are kept at the boundaries of visits; in between the ledger names the paths.</p>
    </section>
  )
}
