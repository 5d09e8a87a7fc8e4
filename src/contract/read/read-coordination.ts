import { names, positive, text } from '../schema/kinds.js'
import { alwaysTrue, maybe, object, unkept } from '../schema/object.js'

const SNAPSHOT: readonly string[] = [
  ...['task', 'current_phase', 'task_dependencies', 'completed_tasks', 'blockers', 'phases', 'agents', 'events'],
  'counts',
]
/** The ledger's names for the events of PRD-007. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['task_started', 'task_claimed'],
  ['phase_transition_requested', 'transition_requested'],
  ['blocker_encountered', 'gate_blocked'],
])

/** The warning for a value other than the fixed one. */
function unlike(fixed: string, message: string): (value: string) => string | null {
  return (value) => (value === fixed ? null : message)
}

function describeMissingParts(names: readonly string[]): string | null {
  const others = names.filter((name) => !SNAPSHOT.includes(name))
  if (others.length === 0) return null
  return `Every snapshot has the same contents: ${SNAPSHOT.join(', ')}. It has no ${others.join(', ')}.`
}

function describeRenamedEvents(names: readonly string[]): string | null {
  const renamed = names.flatMap((name) => (OTHER_NAMES.has(name) ? [`${name} is ${OTHER_NAMES.get(name)}`] : []))
  if (renamed.length === 0) return null
  return `All events are sent, whatever the list says, and some have other names: ${renamed.join(', ')}.`
}

const STATE_ACCESS = object('state_access', 'State access', {
  mode: unkept(text, 'Agents get read-only snapshots; anything else causes a warning.', 'read_only_snapshot', {
    differs: unlike('read_only_snapshot', 'Agents always get read-only snapshots (read_only_snapshot).'),
  }),
  snapshot_includes: unkept(
    names,
    'Every snapshot has the same contents; other entries cause a warning.',
    '[current_phase]',
    { differs: describeMissingParts },
  ),
  mutation_via: unkept(text, 'State changes through the API; anything else causes a warning.', 'orchestrator_api', {
    differs: unlike('orchestrator_api', 'State only ever changes through the API (orchestrator_api).'),
  }),
})

const EVENT_BUS = object('event_bus', 'Event bus', {
  type: unkept(text, 'Events live in the ledger; anything but `sqlite` causes a warning.', 'sqlite', {
    differs: unlike('sqlite', 'Events live in the ledger; no other bus is used.'),
  }),
  db_path: unkept(text, 'The ledger is used instead; setting it causes a warning.', 'events.db', {
    words: 'path',
    differs: 'Events live in the ledger; no other database is used.',
  }),
  events: unkept(names, 'All events are sent; names that differ in the ledger cause a warning.', '[gate_passed]', {
    differs: describeRenamedEvents,
  }),
})

const CONFLICT_RESOLUTION = object('conflict_resolution', 'Conflict resolution', {
  strategy: unkept(
    text,
    'Nothing is merged, calls are decided one after the other; setting it causes a warning.',
    'orchestrator_merge',
    {
      differs:
        'Nothing is merged: calls are decided one after the other, each on the state that the previous one left.',
    },
  ),
  lock_timeout_seconds: unkept(positive, 'Leases are used instead of locks; setting it causes a warning.', '300', {
    differs: 'There are no locks: an agent keeps its task as long as enforcement.lease_seconds says.',
  }),
  optimistic_locking: alwaysTrue(
    'Every append is compared with the state it was decided on; it cannot be switched off.',
  ),
})

/** `coordination:`; stored as written. Each key does what it says, or a warning says what happens instead. */
export const COORDINATION = object(
  'coordination',
  'Coordination',
  {
    state_access: maybe(STATE_ACCESS, 'How agents see shared state.', '{mode: read_only_snapshot}'),
    event_bus: maybe(EVENT_BUS, 'How events travel.', '{type: sqlite}'),
    conflict_resolution: maybe(
      CONFLICT_RESOLUTION,
      'What happens when two agents want the same thing.',
      '{optimistic_locking: true}',
    ),
  },
  { finish: (_parts, { reading, node }) => reading.toJsonObject(node) },
)
