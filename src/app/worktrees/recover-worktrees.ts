import { existsSync, rmSync } from 'node:fs'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { applyTo, findTask } from '../find-task.js'
import { keepBody } from '../kept-answer.js'
import { formatStream } from '../ledger/entries.js'
import { ok, type Result } from '../result.js'
import { toTaskView } from '../tasks/views.js'
import { waitForGit } from './left-git.js'
import { holdIndex, undoPartialWrites } from './main-tree.js'
import { type MergePlan, MergePlans } from './merge-plan.js'
import { askGit, type GitPlace, runGit } from './run-git.js'
import { findPlace, getPlace, readOwner, removePlace, sweepPlaces } from './worktree-place.js'

/**
 * Finishes merges that a killed server had begun, and removes trees of no task. Called before the server accepts
 * requests.
 */
export async function recoverWorktrees(app: App, onFault: (error: unknown) => void): Promise<void> {
  for (const plan of new MergePlans(app.keptDir).list()) {
    if (await app.ledger.isElsewhere(formatStream(plan.taskId))) continue
    try {
      const why = await finishMerge(app, plan)
      if (why !== null) onFault(new Error(why))
    } catch (error) {
      onFault(error)
    }
  }
  await removeEndedTrees(app, app.stateDir, onFault)
  if (app.keptDir !== app.stateDir) await removeEndedTrees(app, app.keptDir, onFault)
}

async function removeEndedTrees(app: App, dir: string, onFault: (error: unknown) => void): Promise<void> {
  const isShared = dir !== app.stateDir
  for (const name of sweepPlaces(dir, isShared ? null : onFault)) {
    const id = readOwner(dir, name)
    const place = getPlace(dir, id)
    const state = await app.ledger.read(id)
    // In a shared folder another node may be making the tree of a task that it has not recorded yet.
    if (isShared && (state === null || (await app.ledger.isElsewhere(formatStream(id))))) continue
    // Do not remove work of a task that this ledger does not know, unless the task was never recorded.
    const isOver =
      state === null ? existsSync(place.unused) : state.worktree !== null && state.worktree.status !== 'open'
    if (isOver) removePlace(place)
    else rmSync(place.unused, { force: true })
  }
}

/** Finishes an interrupted merge, or drops it if the branch never changed. Returns why it cannot; null: done. */
export async function finishMerge(app: App, plan: MergePlan): Promise<string | null> {
  const plans = new MergePlans(app.keptDir)
  const origin: GitPlace = { at: plan.repository, settings: 'operator' }
  await waitForGit(plan.repository)
  const now = await askGit(origin, ['rev-parse', '--verify', '--quiet', `refs/heads/${plan.into}^{commit}`])
  if (now === null) return `A merge of task ${plan.taskId} was interrupted, and ${plan.repository} cannot be read.`
  const contains = await runGit(origin, ['merge-base', '--is-ancestor', plan.after, now])
  if (plan.isShown) {
    const why = await followMerge(plan, contains.code === 0 && now === plan.after)
    if (why !== null) return why
  }
  if (contains.code === 0) {
    // It was perhaps recorded before the server ended, and what follows was not done.
    const isRecorded = (await app.ledger.peek(plan.taskId))?.worktree?.commit === plan.tip
    const ended = isRecorded ? null : await recordEnd(app, plan)
    if (ended?.ok === false && ended.problem.code !== 'conflict') return ended.problem.detail
    if (isRecorded) await followEnd(app, plan)
  }
  await runGit(origin, ['update-ref', '-d', `refs/phaselock/${plan.name}`])
  plans.drop(plan.name)
  return null
}

async function followMerge(plan: MergePlan, isMerged: boolean): Promise<string | null> {
  const held = await holdIndex(plan.repository, plan.name)
  if (held === null)
    return `A merge of task ${plan.taskId} was interrupted; another git process is running in ${plan.repository}.`
  try {
    // Nothing is written before the branch has changed, and whoever moved the branch since also moved the tree.
    if (!isMerged) return null
    const ours: GitPlace = { at: plan.repository, settings: 'operator', index: held.own }
    if ((await askGit(ours, ['symbolic-ref', '--quiet', 'HEAD'])) !== `refs/heads/${plan.into}`) return null
    if ((await runGit(ours, ['diff-index', '--cached', '--quiet', plan.after, '--'])).code === 0) return null
    const stray = await undoPartialWrites(held, plan)
    const why = stray.length > 0 ? `changed since: ${stray.join(', ')}` : await held.follow(plan)
    return why === null
      ? null
      : `A merge of task ${plan.taskId} into ${plan.into} was interrupted, and the work tree of ${plan.repository} cannot be updated (${why}).`
  } finally {
    held.release()
  }
}

/** Records the merge, accepts the changes of the repository's own tree, and removes the task's tree. */
export async function recordEnd(app: App, plan: MergePlan): Promise<Result<JsonObject>> {
  const { taskId, into, tip, after, force, reason, once, shown = {} } = plan
  const task = await findTask(app, taskId)
  if (!task.ok) return task
  const command = { type: 'end_worktree', end: 'merge', commit: tip, into, result: after, force, reason } as const
  const answerOf = (state: TaskState): JsonObject => ({ ...toTaskView(state), ...shown })
  const by = { actor: plan.actor, isHolding: true, remember: keepBody(once, 200, answerOf) }
  const handled = await applyTo(app, task.value, command, by)
  if (!handled.ok) return handled
  await followEnd(app, plan)
  return ok(answerOf(handled.value.state))
}

async function followEnd(app: App, plan: MergePlan): Promise<void> {
  if (plan.isShown && app.trees.isKnown(plan.repository))
    await app.trees.acceptAsIs(plan.repository, await listChangedPaths(plan))
  const state = await app.ledger.peek(plan.taskId)
  if (state?.worktree?.status !== 'open') removePlace(findPlace(app, plan.taskId))
}

async function listChangedPaths(plan: MergePlan): Promise<readonly string[]> {
  if (plan.before === plan.after) return []
  const words = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', plan.before, plan.after]
  const run = await runGit({ at: plan.repository, settings: 'operator' }, words)
  return run.stdout.split('\0').filter((path) => path !== '')
}
