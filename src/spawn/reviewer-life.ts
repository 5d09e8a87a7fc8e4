import { hashReviewSubject } from '../app/reviews/review-subject.js'
import { addReviewer, tryRead } from '../app/reviews/reviews.js'
import { toContractView } from '../app/tasks/views.js'
import { makeTreeAtStart } from '../app/trees/tree-at-start.js'
import type { SpawnOutcome } from '../core/contract/agent-programs.js'
import { mayBeReviewed } from '../core/identity/admit.js'
import { isFinished } from '../core/reviews/review.js'
import { SPAWNED_CRASH } from '../core/task/crash.js'
import type { Reviewer, TaskState } from '../core/task/state.js'
import { AgentLife } from './agent-life.js'
import type { AgentProcess } from './agent-process.js'
import { reviewPrompt } from './agent-prompt.js'

/** A reviewer that a phase starts automatically. It ends with its report, or with its visit. */
export class ReviewerLife extends AgentLife {
  /** How many transitions had been blocked when the work was last read. */
  #lookedAfter: number | null = null

  /** Continues after a server that stopped or was killed: its process ended with it. */
  async resume(): Promise<void> {
    if (this.spawn.isRunning)
      await this.note('server_killed', { exitCode: null, detail: 'the server ended without stopping it' })
    await this.run()
  }

  async run(): Promise<void> {
    let losses = 0
    let waitUntil = 0
    while (!this.isHalted) {
      const { app, limits } = this.parts
      const state = await this.peek()
      const outcome = this.#outcomeOf(state)
      if (outcome !== null || state === null)
        return this.end({ outcome: outcome ?? 'taken', reason: 'The review is over.' })
      if (this.#isHeld(state) || app.now() < waitUntil || !(await this.#isWanted(state))) {
        await this.bell.wait(limits.lookMs)
        continue
      }
      const contract = await app.contracts.get(state.contract.hash)
      const { maxRetries, backoffSeconds } = contract.agentCrash ?? SPAWNED_CRASH
      if (losses > maxRetries) {
        const reason = `It was lost ${losses} times: ${this.last.detail}`
        return this.end({ outcome: 'failed', reason })
      }
      losses = (await this.#attempt(state)) ? 0 : losses + 1
      waitUntil = app.now() + backoffSeconds * losses * 1000
    }
  }

  /** False when the process was lost before it reported, although it could have. */
  async #attempt(state: TaskState): Promise<boolean> {
    const before = this.#reviewerIn(state)?.reports ?? 0
    this.parts.log.forgetLast()
    this.#lookedAfter = null
    let process: AgentProcess
    try {
      process = await this.#begin(state)
    } catch (error) {
      await this.note('not_started', {
        exitCode: null,
        detail: error instanceof Error ? error.message : String(error),
      })
      return false
    }
    await this.watch(process, (now) => this.#outcomeOf(now) === null)
    const end = await this.waitForEnd(process, this.#outcomeOf(await this.peek()) === 'finished')
    if (this.isClosed) await this.note('server_stopped')
    const now = await this.peek()
    if (this.isHalted || this.#outcomeOf(now) !== null) return true
    const hasObjected = hasRequestedChanges(this.#reviewerIn(now)) && (this.#reviewerIn(now)?.reports ?? 0) > before
    await this.note('exited', hasObjected ? { ...end, detail: 'it asked for changes and waits for them' } : end)
    return hasObjected || this.#isHeld(now)
  }

  // Nobody could read its report.
  #isHeld(state: TaskState | null): boolean {
    return this.parts.app.ledger.registry.paused !== null || (state !== null && !mayBeReviewed(state))
  }

  async #begin(state: TaskState): Promise<AgentProcess> {
    const { app, limits } = this.parts
    const { agentId, taskId, spawn } = this
    const name = spawn.review?.name ?? agentId
    const contract = await app.contracts.get(state.contract.hash)
    const setting = await this.makeSetting(state, contract)
    const isConfined = setting.sandbox.provider !== 'none'
    // In the sandbox it is useless to others, and it ends with the visit: so it is valid as long as the process may
    // run.
    const expiresSeconds = isConfined ? Math.ceil(limits.lifeMs / 1000) : undefined
    const added = await addReviewer(
      app,
      { taskId, name, expiresSeconds, isConfined },
      { actor: 'system', once: undefined },
    )
    if (!added.ok) throw new Error(added.problem.detail)
    const before = this.#reviewerIn(state)?.report?.status ?? null
    const about = { phase: state.phase, title: state.title, before }
    const start = {
      ...setting,
      token: String(added.value.review_token),
      prompt: reviewPrompt(spawn, about),
      contract: toContractView(contract, state),
      atStart: makeTreeAtStart(app, contract, state),
    }
    return this.launch(start, `review-${spawn.starts + 1}`, `as reviewer ${name}`)
  }

  // A reviewer that requested changes is asked again after the agent tried again and the work differs: not at the first
  // edit.
  async #isWanted(state: TaskState): Promise<boolean> {
    const report = this.#reviewerIn(state)?.report ?? null
    if (report?.status !== 'changes_requested') return true
    const { blocked } = state.gates
    if (blocked === report.turnedBack || blocked === this.#lookedAfter) return false
    const subject = await tryRead(() => hashReviewSubject(this.parts.app, state))
    if (subject === null) return false
    this.#lookedAfter = blocked
    return subject !== report.subject
  }

  #outcomeOf(state: TaskState | null): SpawnOutcome | null {
    const { review } = this.spawn
    if (state === null || review === null) return 'taken'
    if (state.status === 'completed') return 'completed'
    if (state.status === 'cancelled') return 'cancelled'
    if (state.visit !== review.visit) return 'taken'
    const reviewer = this.#reviewerIn(state)
    if (reviewer === null) return null
    if (reviewer.report !== null && isFinished(reviewer.report.status) && this.#isOwn(reviewer.report))
      return 'finished'
    return reviewer.status === 'revoked' || this.#isReplaced(reviewer) ? 'taken' : null
  }

  // A new token for the process would revoke a reviewer that an operator added under this name.
  #isReplaced({ isStarted, addedAt }: Reviewer): boolean {
    return !isStarted && addedAt >= this.spawn.spawnedAt
  }

  // The previous report of this slot is about other work.
  #isOwn({ at }: { readonly at: number }): boolean {
    return at >= this.spawn.spawnedAt
  }

  #reviewerIn(state: TaskState | null): Reviewer | null {
    const { review } = this.spawn
    const reviewer = state?.reviewers.get(review?.name ?? '')
    return reviewer === undefined || reviewer.visit !== review?.visit ? null : reviewer
  }
}

function hasRequestedChanges(reviewer: Reviewer | null): boolean {
  return reviewer?.report?.status === 'changes_requested'
}
