import { existsSync } from 'node:fs'
import type { JsonObject } from '../../core/json.js'
import { refuseWorktreeEnd } from '../../core/task/worktree.js'
import type { App } from '../app.js'
import type { Once } from '../kept-answer.js'
import { noTask, ok, type Result, refuse, toProblem } from '../result.js'
import { toTaskView } from '../tasks/views.js'
import { type HeldIndex, holdIndex } from './main-tree.js'
import { type MergedCommit, mergeCommit } from './merge-commit.js'
import { type MergePlan, MergePlans } from './merge-plan.js'
import { finishMerge, recordEnd } from './recover-worktrees.js'
import { commitSource, fetchInto, openSource, type Source } from './repository-source.js'
import { type GitPlace, runGit } from './run-git.js'

interface MergeRequest {
  readonly taskId: string
  /** Include work that is not completed. */
  readonly force: boolean
  /** Include uncommitted changes. */
  readonly commit: boolean
  /** A branch other than the one the work tree was made from. */
  readonly into: string | undefined
  readonly reason: string
  readonly actor: string
  readonly once: Once | undefined
}

/**
 * Merges the work of a task into a branch of its repository: fast-forward, or with a merge commit. Conflicts are
 * refused and nothing is touched. The branch changes in one step; a server killed before has done nothing, and one
 * killed after continues at its next start. (REQ-TREES-5)
 */
export async function mergeWorktree(app: App, request: MergeRequest): Promise<Result<JsonObject>> {
  const state = await app.ledger.peek(request.taskId)
  if (state === null) return noTask(request.taskId)
  const refused = refuseWorktreeEnd(state, 'merge', request.force)
  if (refused !== null && refused.refusal !== null) return toProblem(refused.refusal, {}, false)
  const repository = state.worktree?.repository ?? ''
  if (!existsSync(repository)) return refuse('conflict', `The repository ${repository} does not exist.`)
  return app.running.inTree(repository, () =>
    app.ledger.hold(request.taskId, async () => {
      const now = await app.ledger.peek(request.taskId)
      const again = now === null ? null : refuseWorktreeEnd(now, 'merge', request.force)
      if (now === null || (again !== null && again.refusal !== null))
        return again?.refusal == null ? refuse('not_found', 'The task is gone.') : toProblem(again.refusal, {}, false)
      const source = openSource(app, now)
      return source.ok ? mergeSource(app, source.value, request) : source
    }),
  )
}

async function mergeSource(app: App, source: Source, request: MergeRequest): Promise<Result<JsonObject>> {
  const { state, worktree, place } = source
  const plans = new MergePlans(app.keptDir)
  const left = plans.findByName(place.name)
  const why = left === null ? null : await finishMerge(app, left)
  if (why !== null) return refuse('conflict', why)
  const since = left === null ? state : ((await app.ledger.peek(state.id)) ?? state)
  if (since.worktree?.status !== 'open') return ok(toTaskView(since))
  const into = request.into ?? worktree.into
  if (into === null)
    return refuse('invalid_request', 'into: no branch was checked out when the work tree was made; name one.')
  const tip = await commitSource(source, { commit: request.commit })
  if (!tip.ok) return tip
  const origin: GitPlace = { at: worktree.repository, settings: 'operator' }
  const ref = `refs/phaselock/${place.name}`
  try {
    const fetched = await fetchInto(source, tip.value, ref)
    if (!fetched.ok) return fetched
    const message = `Merge task ${state.id}: ${state.title}\n\nTask: ${state.id}\n`
    const made = await mergeCommit(origin, { into, tip: tip.value, message })
    if (!made.ok) return made
    const { force, reason, actor } = request
    const { before, after, isShown } = made.value
    const about = { name: place.name, taskId: state.id, repository: worktree.repository, into, tip: tip.value }
    const shown = viewOf({ into, tip: tip.value, before, after }, made.value)
    const plan: MergePlan = { ...about, before, after, isShown, force, reason, actor, once: request.once, shown }
    const failed = before === after ? null : await moveTarget(plans, plan, made.value)
    if (failed !== null) return refuse('conflict', failed)
    const ended = await recordEnd(app, plan)
    plans.drop(place.name)
    return ended
  } finally {
    await runGit(origin, ['update-ref', '-d', ref])
  }
}

/** Null: branch and work tree are at the new commit. */
async function moveTarget(plans: MergePlans, plan: MergePlan, made: MergedCommit): Promise<string | null> {
  // Before the index is locked: the next start removes a lock that was left only for a stored plan.
  plans.put(plan)
  if (!made.isShown) return moveBranch(plans, plan)
  const held = await holdIndex(plan.repository, plan.name)
  if (held === null) {
    plans.drop(plan.name)
    return 'Another git process is running in the repository. Nothing was merged; try again.'
  }
  try {
    return await moveBranchAndTree(plans, plan, held)
  } finally {
    held.release()
  }
}

async function moveBranchAndTree(plans: MergePlans, plan: MergePlan, held: HeldIndex): Promise<string | null> {
  const obstacle = await held.obstacle(plan)
  if (obstacle !== null) {
    plans.drop(plan.name)
    return `The repository's own work tree has changes in the way: ${obstacle} Commit or stash them there. Nothing was merged.`
  }
  const failed = await moveBranch(plans, plan)
  if (failed !== null) return failed
  const left = await held.follow(plan)
  return left === null
    ? null
    : `${plan.into} is merged, but its work tree was not updated: ${left} Restart the server, or use git by hand.`
}

async function moveBranch(plans: MergePlans, plan: MergePlan): Promise<string | null> {
  const message = `phaselock: merge task ${plan.taskId}`
  const words = ['update-ref', '-m', message, `refs/heads/${plan.into}`, plan.after, plan.before]
  const run = await runGit({ at: plan.repository, settings: 'operator' }, words)
  if (run.code === 0) return null
  plans.drop(plan.name)
  return `Branch ${plan.into} changed meanwhile. Nothing was merged; try again. (${run.said})`
}

function viewOf(plan: Pick<MergePlan, 'into' | 'tip' | 'before' | 'after'>, made: MergedCommit): JsonObject {
  const { into, tip, after, before } = plan
  return { merge: { into, commit: tip, result: after, fast_forward: made.isForward, already: before === after } }
}
