import type { JsonObject } from '../../core/json.js'
import type { Fields } from './fields.js'
import type { Reading } from './reading.js'

const PARTS: Readonly<Record<string, readonly string[]>> = {
  state_access: ['mode', 'snapshot_includes', 'mutation_via'],
  event_bus: ['type', 'db_path', 'events'],
  conflict_resolution: ['strategy', 'lock_timeout_seconds', 'optimistic_locking'],
}
const SNAPSHOT: ReadonlySet<string> = new Set([
  ...['task', 'current_phase', 'task_dependencies', 'completed_tasks', 'blockers', 'phases', 'agents', 'events'],
  'counts',
])
/** What the ledger calls the events of PRD-007. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['task_started', 'task_claimed'],
  ['phase_transition_requested', 'transition_requested'],
  ['blocker_encountered', 'gate_blocked'],
])

/** `coordination:`; kept as it is written. Each key does what it says, or a warning says what happens instead. */
export function readCoordination(reading: Reading, root: Fields): JsonObject | null {
  const fields = root.openInner('coordination', Object.keys(PARTS))
  if (fields === null || fields.node.entries.size === 0) return null
  for (const [part, keys] of Object.entries(PARTS)) {
    const inner = fields.openInner(part, keys)
    if (inner === null) continue
    for (const key of ['mode', 'mutation_via', 'type', 'db_path', 'strategy']) inner.getText(key)
    if (part === 'state_access') warnOfState(inner)
    else if (part === 'event_bus') warnOfBus(inner)
    else warnOfConflicts(inner)
  }
  return reading.toJsonObject(fields.node)
}

function warnOfState(fields: Fields): void {
  const warn = (key: string, message: string): void => fields.reportBad(key, 'contract.effect_differs', message)
  if (fields.has('mode') && fields.getText('mode') !== 'read_only_snapshot')
    warn('mode', 'Agents always get read-only snapshots (read_only_snapshot).')
  if (fields.has('mutation_via') && fields.getText('mutation_via') !== 'orchestrator_api')
    warn('mutation_via', 'State only ever changes through the API (orchestrator_api).')
  const others = (fields.getTexts('snapshot_includes') ?? []).filter((name) => !SNAPSHOT.has(name))
  if (others.length > 0)
    warn(
      'snapshot_includes',
      `Every snapshot holds the same: ${[...SNAPSHOT].join(', ')}. It has no ${others.join(', ')}.`,
    )
}

function warnOfBus(fields: Fields): void {
  const warn = (key: string, message: string): void => fields.reportBad(key, 'contract.effect_differs', message)
  if (fields.has('type') && fields.getText('type') !== 'sqlite')
    warn('type', 'Events live in the ledger; no other bus is used.')
  if (fields.has('db_path')) warn('db_path', 'Events live in the ledger; no other database is used.')
  const renamed = (fields.getTexts('events') ?? []).flatMap((name) => {
    const own = OTHER_NAMES.get(name)
    return own === undefined ? [] : [`${name} is ${own}`]
  })
  if (renamed.length > 0)
    warn('events', `Every event is carried, whatever is listed, and some have other names: ${renamed.join(', ')}.`)
}

function warnOfConflicts(fields: Fields): void {
  const warn = (key: string, message: string): void => fields.reportBad(key, 'contract.effect_differs', message)
  if (fields.has('strategy'))
    warn(
      'strategy',
      'Nothing is merged: of two calls at the same time the later one is decided on what the first left.',
    )
  fields.getPositive('lock_timeout_seconds', 1)
  if (fields.has('lock_timeout_seconds'))
    warn(
      'lock_timeout_seconds',
      'There are no locks: an agent keeps its task as long as enforcement.lease_seconds says.',
    )
  if (!fields.getFlag('optimistic_locking', true))
    warn('optimistic_locking', 'Every append is compared with the state it was decided on; it cannot be switched off.')
}
