import { existsSync } from 'node:fs'
import type { Contract } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import type { App } from '../app.js'
import { findTask } from '../find-task.js'
import { ok, type Result, refuse } from '../result.js'
import { formatVisitMoment, WORK_ENDED } from '../trees/tree-moments.js'
import { WORK_BEGAN } from '../trees/trees.js'
import { toIsoTime } from '../wire.js'
import { listVisits, type TaskVisit } from './task-visits.js'
import { diffTrees, makeUnavailable, toDiffView } from './tree-diff.js'

export interface DiffRequest {
  /** `start`, `phase` or the number of a visit. */
  readonly from: string
  /** `now`, or the number of a visit: the tree as it was when that visit ended. */
  readonly to: string
  /** Only this path; null: all. */
  readonly path: string | null
}

/** What changed in the work tree of a task since it began, since its phase began or since one of its visits. */
export async function showTaskDiff(app: App, taskId: string, request: DiffRequest): Promise<Result<JsonObject>> {
  const task = await findTask(app, taskId)
  if (!task.ok) return task
  const { state, contract } = task.value
  const badPath = request.path === null ? null : findPathProblem(request.path)
  if (badPath !== null) return refuse('invalid_request', `query.path: ${badPath}`)
  const visits = await listVisits(app, taskId)
  const findVisit = (asked: string) => visits.find(({ visit }) => String(visit) === asked)
  const { from, to } = request
  const kind = from === 'start' || from === 'phase' ? from : 'visit'
  const first = kind === 'start' ? visits[0] : kind === 'phase' ? visits.at(-1) : findVisit(from)
  const last = to === 'now' ? null : findVisit(to)
  if (kind === 'visit' && first === undefined) return refuseVisit('from', from, visits)
  if (last === undefined) return refuseVisit('to', to, visits)
  const head = {
    task_id: taskId,
    from: { kind, visit: first?.visit ?? 0, phase: first?.phase ?? state.phase, at: toTime(first?.enteredAt) },
    to: describeEnd(state, last),
  }
  const trees = await findTrees(app, contract, state, { kind, first, last, visits })
  if (typeof trees === 'string') return ok({ ...head, ...makeUnavailable(trees) })
  const diff = await diffTrees(app, { state, ...trees, path: request.path })
  if (request.path !== null && diff.files.length === 0)
    return refuse('not_found', `${JSON.stringify(request.path)} did not change, or is not a file of the work tree.`)
  return ok({ ...head, ...toDiffView(diff) })
}

const GIT_FOLDER = /(^|\/)\.git(\/|$)/i

/** Why a path cannot name a file of a work tree; null when it can. */
export function findPathProblem(path: string): string | null {
  if (path === '' || path.startsWith('/')) return 'must be relative to the work tree'
  if (path.split('/').some((part) => part === '..' || part === '.' || part === ''))
    return 'must not contain empty parts, "." or ".."'
  if (path.includes('\0')) return 'must not contain NUL'
  return GIT_FOLDER.test(path) ? 'the git directory is not part of the work tree' : null
}

function refuseVisit(name: string, asked: string, visits: readonly TaskVisit[]) {
  const known = visits.length === 0 ? 'The task has none yet.' : `It has 1 to ${visits.at(-1)?.visit}.`
  return refuse('not_found', `query.${name}: the task has no visit ${asked}. ${known}`)
}

interface Wanted {
  readonly kind: 'start' | 'phase' | 'visit'
  readonly first: TaskVisit | undefined
  readonly last: TaskVisit | null
  readonly visits: readonly TaskVisit[]
}

/** The trees to compare, or why there are none. */
async function findTrees(app: App, contract: Contract, state: TaskState, wanted: Wanted) {
  if (state.visit === 0) return 'No agent has worked on the task yet, so nothing has changed.'
  const { kind, first, last, visits } = wanted
  const before =
    kind === 'start'
      ? app.trees.readMark(state.workspace, state.id, WORK_BEGAN)
      : first === undefined
        ? null
        : readVisitStart(app, state, { visit: first, visits })
  if (before === null)
    return contract.enforcement.reconcile === 'off'
      ? 'The contract does not compare the work tree (reconcile: off), so the tree was not recorded.'
      : 'The work tree as it was then was not recorded, or its record was removed to make room.'
  const next = last === null ? undefined : visits.find(({ visit }) => visit === last.visit + 1)
  if (next !== undefined) {
    const after = readVisitStart(app, state, { visit: next, visits })
    return after === null
      ? `The work tree as it was at the end of visit ${last?.visit} was not recorded.`
      : { before, after, unexplained: new Set<string>() }
  }
  const now = await readCurrentTree(app, state)
  return typeof now === 'string' ? now : { before, ...now }
}

/** The tree of a task as it is now, or as it was when the task ended; otherwise why it cannot be read. */
export async function readCurrentTree(
  app: App,
  state: TaskState,
): Promise<string | { readonly after: TreeIndex; readonly unexplained: ReadonlySet<string> }> {
  const isOver = state.status === 'completed' || state.status === 'cancelled'
  const ended = isOver ? app.trees.readMark(state.workspace, state.id, WORK_ENDED) : null
  if (ended !== null) return { after: ended, unexplained: new Set() }
  if (!existsSync(state.workspace)) return 'The work tree is gone, and was not recorded when the task ended.'
  try {
    const compared = await app.trees.compare(state.workspace)
    const differences = app.trees.tasks.listUnexplained(state, compared)
    return { after: compared.index, unexplained: new Set(differences.map(({ path }) => path)) }
  } catch (error) {
    return `The work tree cannot be read: ${error instanceof Error ? error.message : 'unreadable'}`
  }
}

function readVisitStart(
  app: App,
  state: TaskState,
  { visit, visits }: { readonly visit: TaskVisit; readonly visits: readonly TaskVisit[] },
): TreeIndex | null {
  const read = (moment: string) => app.trees.readMark(state.workspace, state.id, moment)
  const own = read(formatVisitMoment(visit.visit)) ?? (visit.visit === 1 ? read(WORK_BEGAN) : null)
  if (own !== null) return own
  // Earlier versions recorded only the newest entry of each phase.
  const isNewest = visits.findLast(({ phase }) => phase === visit.phase)?.visit === visit.visit
  return isNewest ? read(visit.phase) : null
}

function describeEnd(state: TaskState, last: TaskVisit | null): JsonObject {
  if (last !== null) return { kind: 'visit', visit: last.visit, phase: last.phase, at: toTime(last.leftAt) }
  const isOver = state.status === 'completed' || state.status === 'cancelled'
  return {
    kind: isOver ? 'end' : 'now',
    visit: state.visit,
    phase: state.phase,
    at: isOver ? toIsoTime(state.updatedAt) : null,
  }
}

function toTime(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : toIsoTime(at)
}
