import type { PhaseChange, PhaseChanges } from '../../checks/check-inputs.js'
import type { Needs } from '../../core/gates/needs.js'
import type { TaskEvent } from '../../core/task/event.js'
import type { TaskState } from '../../core/task/state.js'
import type { Difference } from '../../tree/tree-contents.js'
import { formatStream } from '../ledger/entries.js'
import type { Resources } from '../resources.js'
import { toTaskEvent } from '../wire.js'

const PAGE = 500
const PAGES_MAX = 200

/** True when a check of the gate needs the changes of the phase. */
export function needsChanges(needed: Needs): boolean {
  return needed.checks.some(
    ({ blocker: { check, params } }) =>
      check === 'tests_are_meaningful' ||
      check === 'test_files_follow_convention' ||
      check === 'no_commented_out_code' ||
      (check === 'expression' && /\bchanges\b/.test(String(params.when ?? ''))),
  )
}

/** Changes since the visit or the task began: recorded calls and unexplained changes. */
export async function readChanges(
  app: Resources,
  state: TaskState,
  beside: readonly Difference[],
  since: 'visit' | 'task' = 'visit',
): Promise<PhaseChanges> {
  const { events, isWhole } = await readEventsSince(app, state, since)
  const changes = new Map<string, PhaseChange['change']>()
  let isComplete = isWhole
  for (const event of events) {
    if (event.type === 'tree_accepted') {
      for (const path of event.paths) note(changes, path, 'modified')
      isComplete &&= event.pathCount <= event.paths.length
    }
    if (event.type === 'install_finished' && event.success)
      for (const path of event.paths) note(changes, path, 'modified')
    if (event.type !== 'tool_finished' && event.type !== 'fact_recorded') continue
    for (const { path, kind } of event.changes ?? []) note(changes, path, kind)
    isComplete &&= (event.changeCount ?? 0) <= (event.changes ?? []).length
  }
  for (const { path, kind } of beside) note(changes, path, kind)
  const list = [...changes].map(([path, change]) => ({ path, change }))
  return { list: list.filter(({ path }) => !GIT.test(path)).sort((a, b) => (a.path < b.path ? -1 : 1)), isComplete }
}

const GIT = /(^|\/)\.git(\/|$)/

// A file that was created and then removed is unchanged; one that was removed and created again is changed.
function note(changes: Map<string, PhaseChange['change']>, path: string, kind: PhaseChange['change']): void {
  const before = changes.get(path)
  if (before === 'created' && kind === 'deleted') changes.delete(path)
  else if (before === 'created') changes.set(path, 'created')
  else if (before === 'deleted' && kind !== 'deleted') changes.set(path, 'modified')
  else changes.set(path, kind)
}

/** The events of the visit or the task, from the end of the stream back to its beginning. */
export async function readEventsSince(
  app: Pick<Resources, 'ledger'>,
  state: TaskState,
  since: 'visit' | 'task',
): Promise<{ readonly events: readonly TaskEvent[]; readonly isWhole: boolean }> {
  let events: readonly TaskEvent[] = []
  let before = (await app.ledger.read(state.id))?.version ?? state.version
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const after = Math.max(0, before - PAGE)
    const read = await app.ledger.store.readStream(formatStream(state.id), after, before - after)
    const found = read.map(toTaskEvent)
    const began = found.findLastIndex((event) => event.type === 'phase_entered' || event.type === 'task_rewound')
    const isBegun = since === 'visit' && began >= 0
    events = [...(isBegun ? found.slice(began + 1) : found), ...events]
    if (isBegun || after === 0) return { events, isWhole: true }
    before = after
  }
  return { events, isWhole: false }
}
