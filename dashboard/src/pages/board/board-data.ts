import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import type { PhaseState } from '../../ui/marks.js'

export interface TaskRow {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly checking: boolean
  readonly phase: string
  readonly agent_id: string | null
  /** Hash of its contract. */
  readonly contract: string
  readonly depends_on: readonly string[]
  readonly lease_expires_at: string | null
  readonly open_questions: number
  readonly created_at: string
  readonly updated_at: string
  readonly progress: {
    readonly phase_entered_at: string | null
    readonly completed_phases: readonly string[]
    readonly refusals: number
    readonly pending_approval: { readonly id: string } | null
    readonly parked_reason: string | null
    readonly lease_seconds: number
  } | null
}

export interface ContractRow {
  readonly hash: string
  readonly name: string
  readonly version: string
  readonly default: boolean
}

export interface Graph {
  readonly phases: readonly { readonly id: string; readonly name: string }[]
  readonly transitions: readonly {
    readonly from: string
    readonly to: string
    readonly gate: string | null
    readonly kind: 'forward' | 'back'
  }[]
  readonly waiting: Readonly<Record<string, number>>
}

const TASKS_MAX = 1000

/** The newest tasks, each with its progress. */
export function useTasks() {
  const query = { limit: TASKS_MAX, progress: 'true' }
  return useRead<{ readonly tasks: readonly TaskRow[]; readonly next_cursor: string | null }>(
    keys.tasks(query),
    '/tasks',
    { query },
  )
}

export function useContracts() {
  return useRead<{ readonly contracts: readonly ContractRow[] }>(keys.contracts, '/contracts')
}

export function useGraph(hash: string | null) {
  return useRead<Graph>(keys.contract(hash ?? '', 'graph'), '/contracts/{hash}/graph', {
    path: { hash: hash ?? '' },
    enabled: hash !== null,
    keepPrevious: true,
  })
}

export type StatusFilter = 'open' | 'waiting' | 'parked' | 'done' | 'all'

export const STATUS_FILTERS: readonly { readonly value: StatusFilter; readonly name: string }[] = [
  { value: 'open', name: 'open and done today' },
  { value: 'waiting', name: 'waiting for a person' },
  { value: 'parked', name: 'parked' },
  { value: 'done', name: 'done' },
  { value: 'all', name: 'all' },
]

/** What the address of the board says about which tasks are shown. */
export interface BoardFilter {
  readonly contract: string
  readonly agent: string
  readonly status: StatusFilter
  readonly text: string
}

export function isWaiting(task: TaskRow): boolean {
  return task.status === 'awaiting_approval' || task.open_questions > 0 || isPending(task)
}

export function isPending(task: TaskRow): boolean {
  return (task.progress?.pending_approval ?? null) !== null
}

export function isEnded({ status }: TaskRow): boolean {
  return status === 'completed' || status === 'cancelled'
}

/** Whether a task is shown under the filter. Text is looked for in the title and the id. */
export function isShown(task: TaskRow, filter: BoardFilter, todayStart: number): boolean {
  if (filter.contract !== '' && task.contract !== filter.contract) return false
  if (filter.agent !== '' && task.agent_id !== filter.agent) return false
  const text = filter.text.trim().toLowerCase()
  if (text !== '' && !task.title.toLowerCase().includes(text) && !task.id.toLowerCase().includes(text)) return false
  switch (filter.status) {
    case 'all':
      return true
    case 'waiting':
      return !isEnded(task) && isWaiting(task)
    case 'parked':
      return task.status === 'parked'
    case 'done':
      return isEnded(task)
    case 'open':
      return !isEnded(task) || Date.parse(task.updated_at) >= todayStart
  }
}

/** Each phase of the contract as the task stands in it. */
export function listPhaseStates(
  task: TaskRow,
  phases: readonly string[],
): readonly { readonly id: string; readonly state: PhaseState }[] {
  const done = new Set(task.progress?.completed_phases)
  const at = phases.indexOf(task.phase)
  return phases.map((id, index) => {
    if (task.status === 'completed') return { id, state: 'done' as const }
    if (id === task.phase) return { id, state: findCurrentState(task) }
    return { id, state: index < at || (at === -1 && done.has(id)) ? ('done' as const) : ('ahead' as const) }
  })
}

function findCurrentState(task: TaskRow): PhaseState {
  if (task.status === 'parked') return 'parked'
  if (isWaiting(task)) return 'waiting'
  return task.status === 'queued' || task.status === 'cancelled' ? 'ahead' : 'current'
}
