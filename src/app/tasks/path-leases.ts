import { isAbsolute, relative } from 'node:path'
import type { Contract } from '../../core/contract/contract.js'
import { completesOnEntry } from '../../core/gates/transition-rules.js'
import { prefixPatterns, writeOverlap } from '../../core/paths/path-overlap.js'
import { getWritable, type Writable } from '../../core/paths/writable.js'
import type { TaskState } from '../../core/task/state.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { App } from '../app.js'
import { formatStream } from '../ledger/entries.js'
import { type Problem, type Result, refuse } from '../result.js'

const PAGE = 500
/** Maximum number of tasks that are compared; with more in progress, no task may write. */
const HELD_MAX = 20_000

/** A task that is about to enter a phase. */
interface Entering {
  readonly state: Pick<TaskState, 'id' | 'workspace'>
  readonly contract: Contract
  readonly phase: string
  readonly agentId: string
}

interface Lease {
  readonly taskId: string
  readonly agentId: string
  readonly phase: string
  readonly tree: string
  readonly writable: Writable
}

// Tasks that are about to enter: already decided, but not in the ledger yet.
const entering = new WeakMap<object, Set<Lease>>()

/**
 * Lets a task enter a phase unless another active task may write the same paths of the same tree. The task holds the
 * paths while it is active in that phase; this follows from the ledger, so there is no lease to store or release.
 * (REQ-LEASES-1)
 */
export async function runWithPathLease<T>(app: App, one: Entering, work: () => Promise<Result<T>>): Promise<Result<T>> {
  const mine = makeLease(one)
  if (mine === null) return work()
  const before = entering.get(app.ledger) ?? new Set<Lease>()
  entering.set(app.ledger, before)
  // Later callers see this entry; an earlier caller's task is in the ledger before its entry is removed.
  for (const other of before) {
    const refused = refuseConflict(mine, other)
    if (refused !== null) return refused
  }
  before.add(mine)
  try {
    return (await refusePathConflict(app, one)) ?? (await work())
  } finally {
    before.delete(mine)
  }
}

/** The refusal that names the holder of the paths; null: nobody holds them. */
export async function refusePathConflict(app: App, one: Entering): Promise<Conflict | null> {
  const mine = makeLease(one)
  if (mine === null) return null
  let seen = 0
  for (const status of ['active', 'awaiting_approval'] as const) {
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<App['ledger']['store']['queryTasks']>> = await app.ledger.store.queryTasks({
        status,
        limit: PAGE,
        ...(cursor === null ? {} : { cursor }),
      })
      for (const row of page.items) {
        const other = await findHeldLease(app, row)
        const refused = other === null ? null : refuseConflict(mine, other)
        if (refused !== null) return refused
      }
      cursor = page.nextCursor
      seen += page.items.length
      if (seen > HELD_MAX) return refuse('conflict', `More than ${HELD_MAX} tasks are active; no other task may write.`)
    } while (cursor !== null)
  }
  return null
}

/** Whether a refusal says that another task holds the paths. */
export function isPathConflict(problem: Problem): boolean {
  return problem.code === 'conflict' && 'held_by' in problem.extra
}

type Conflict = ReturnType<typeof refuse>

function makeLease({ state, contract, phase: id, agentId }: Entering): Lease | null {
  if (!contract.phases.has(id)) return null
  const phase = requirePhase(contract, id)
  const writable = getWritable(phase)
  if (writable.allowed.length === 0 || completesOnEntry(contract, phase)) return null
  return { taskId: state.id, agentId, phase: id, tree: state.workspace, writable }
}

async function findHeldLease(
  app: App,
  row: { readonly id: string; readonly contract: string; readonly phase: string },
): Promise<Lease | null> {
  // The same path on another node is another tree.
  if (await app.ledger.isElsewhere(formatStream(row.id))) return null
  const contract = await app.contracts.get(row.contract)
  const state = await app.ledger.peek(row.id)
  const isHeld = state !== null && (state.status === 'active' || state.status === 'awaiting_approval')
  if (!isHeld || state.held === null) return null
  return makeLease({ state, contract, phase: state.phase, agentId: state.held.agentId })
}

function refuseConflict(mine: Lease, other: Lease): Conflict | null {
  if (mine.taskId === other.taskId) return null
  const trees = alignTrees(mine, other)
  const found = trees === null ? null : writeOverlap(trees.mine, trees.theirs)
  if (found === null) return null
  const { taskId, agentId, phase } = other
  return refuse(
    'conflict',
    `Task ${taskId} (agent ${agentId}, phase ${phase}) may write ${found.theirs} in the same work tree, where ${mine.phase} may write ${found.mine}.`,
    {
      held_by: { task_id: taskId, agent_id: agentId, phase, pattern: found.theirs },
      remedy: `Ask again when task ${taskId} has left ${phase}, or give each task its own work tree (\`worktree\`).`,
    },
  )
}

// One tree may lie inside the other.
function alignTrees(mine: Lease, other: Lease): { readonly mine: Writable; readonly theirs: Writable } | null {
  const down = findRelativePath(mine.tree, other.tree)
  if (down !== null) return { mine: mine.writable, theirs: rebaseWritable(other.writable, down) }
  const up = findRelativePath(other.tree, mine.tree)
  return up === null ? null : { mine: rebaseWritable(mine.writable, up), theirs: other.writable }
}

function findRelativePath(folder: string, path: string): string | null {
  const way = relative(folder, path)
  return way === '..' || way.startsWith('../') || isAbsolute(way) ? null : way
}

function rebaseWritable(writable: Writable, folder: string): Writable {
  // Forbidden paths below a folder with an unusual name are ignored here: this can only report more overlaps, never
  // fewer.
  const forbidden = prefixPatterns(folder, writable.forbidden).filter((pattern) => folder === '' || pattern !== '**')
  return { allowed: prefixPatterns(folder, writable.allowed), forbidden }
}
