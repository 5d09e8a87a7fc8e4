import { reservedIn } from '../app/reserved.js'
import { addReviewer } from '../app/reviews.js'
import { contractView } from '../app/views.js'
import { isFinished } from '../core/review.js'
import type { DropCause, Spawn, SpawnOutcome } from '../core/spawns.js'
import type { TaskState } from '../core/state.js'
import type { AgentProcess, ProcessEnd } from './agent-process.js'
import { reviewPrompt } from './agent-prompt.js'
import { Bell } from './bell.js'
import { wallFor } from './wall-for.js'
import type { LifeParts } from './worker-life.js'

const RETRIES = 3
const BACK_OFF_SECONDS = 60

/** A reviewer that a phase starts by itself. It ends with its report, or with the visit that it is for. */
export class ReviewerLife {
  readonly #bell = new Bell()
  #process: AgentProcess | null = null
  #isClosed = false
  #stopped: string | null = null
  #last: ProcessEnd = { exitCode: null, detail: '' }

  constructor(
    readonly agentId: string,
    readonly taskId: string,
    private readonly parts: LifeParts,
  ) {}

  notice(): void {
    this.#bell.ring()
  }

  async stop(reason: string): Promise<void> {
    this.#stopped = reason
    this.#bell.ring()
    await this.#process?.kill()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#bell.ring()
    await this.#process?.kill()
  }

  get spawn(): Spawn {
    const spawn = this.parts.app.ledger.registry.spawns.get(this.agentId)
    if (spawn === undefined) throw new Error(`agent ${this.agentId} was never started`)
    return spawn
  }

  get last(): ProcessEnd {
    return this.#last
  }

  async run(): Promise<void> {
    let losses = 0
    let waitUntil = 0
    while (!this.#isClosed && this.#stopped === null) {
      const { app, limits } = this.parts
      const state = await app.ledger.peek(this.taskId)
      const outcome = this.#outcomeOf(state)
      if (outcome !== null || state === null) return this.#end(outcome ?? 'taken', 'The review is over.')
      if (app.ledger.registry.paused !== null || app.now() < waitUntil) {
        await this.#bell.wait(limits.lookMs)
        continue
      }
      const contract = await app.contracts.get(state.contract.hash)
      const { maxRetries, backoffSeconds } = contract.agentCrash ?? {
        ...{ maxRetries: RETRIES, backoffSeconds: BACK_OFF_SECONDS },
      }
      if (losses > maxRetries) return this.#end('failed', `It was lost ${losses} times: ${this.#last.detail}`)
      if (await this.#attempt(state)) continue
      losses += 1
      waitUntil = app.now() + backoffSeconds * losses * 1000
    }
  }

  /** False when the process was lost before the review was over. */
  async #attempt(state: TaskState): Promise<boolean> {
    const { app, log, limits } = this.parts
    const { agentId, taskId, spawn } = this
    log.forgetLast()
    try {
      await this.#begin(state)
    } catch (error) {
      this.#last = { exitCode: null, detail: error instanceof Error ? error.message : String(error) }
      await this.#note('not_started')
      return false
    }
    const process = this.#process
    if (process === null) return true
    if (this.#isClosed || this.#stopped !== null) void process.kill()
    let isGone = false
    void process.done.then(() => {
      isGone = true
      this.#bell.ring()
    })
    while (!isGone && this.#outcomeOf(await app.ledger.peek(taskId)) === null) await this.#bell.wait(limits.lookMs)
    const outcome = this.#outcomeOf(await app.ledger.peek(taskId))
    const timer = setTimeout(() => void process.kill(), outcome === 'finished' ? limits.graceMs : 0)
    this.#last = await process.done
    clearTimeout(timer)
    this.#process = null
    await log.write([`--- ${new Date(app.now()).toISOString()} ${agentId} (${spawn.taskId}): ${this.#last.detail}`])
    if (this.#isClosed) await this.#note('server_stopped')
    if (this.#isClosed || outcome !== null || this.#stopped !== null) return true
    await this.#note('exited')
    return false
  }

  async #begin(state: TaskState): Promise<void> {
    const { app, log } = this.parts
    const { agentId, taskId, spawn } = this
    const name = spawn.review?.name ?? agentId
    const added = await addReviewer(
      app,
      { taskId, name, expiresSeconds: undefined },
      { actor: 'system', once: undefined },
    )
    if (!added.ok) throw new Error(added.problem.detail)
    const contract = await app.contracts.get(state.contract.hash)
    const instance = `review-${spawn.starts + 1}`
    await app.ledger.record({ type: 'agent_started', agentId, taskId, instance }, { now: app.now(), actor: 'system' })
    await log.write([`--- ${new Date(app.now()).toISOString()} start ${this.spawn.starts} as reviewer ${name}`])
    this.#process = await this.parts.start({
      ...{ spawn, log, token: String(added.value.review_token) },
      entry: contract.agents?.get(spawn.entry ?? '') ?? null,
      prompt: reviewPrompt(spawn, { phase: state.phase, title: state.title }),
      contract: contractView(contract, state),
      tree: state.workspace,
      hidden: reservedIn(app, contract, state.workspace).hidden,
      wall: await wallFor(app, contract),
    })
  }

  #outcomeOf(state: TaskState | null): SpawnOutcome | null {
    const { review } = this.spawn
    if (state === null || review === null) return 'taken'
    if (state.status === 'completed') return 'completed'
    if (state.status === 'cancelled') return 'cancelled'
    if (state.visit !== review.visit) return 'taken'
    const reviewer = state.reviewers.get(review.name)
    if (reviewer?.visit !== review.visit) return null
    if (reviewer.report !== null && isFinished(reviewer.report.status)) return 'finished'
    return reviewer.status === 'revoked' ? 'taken' : null
  }

  async #note(cause: DropCause): Promise<void> {
    const { app, log } = this.parts
    const { agentId, taskId } = this
    const { exitCode, detail } = this.#last
    await app.ledger.record(
      { type: 'agent_process_lost', agentId, taskId, cause, exitCode, detail, lastLines: log.lastLines },
      { now: app.now(), actor: 'system' },
    )
  }

  async #end(outcome: SpawnOutcome, reason: string): Promise<void> {
    const { app, log } = this.parts
    const { agentId, taskId } = this
    const { exitCode } = this.#last
    await app.ledger.record(
      { type: 'agent_ended', agentId, taskId, outcome, reason, exitCode, lastLines: log.lastLines },
      { now: app.now(), actor: 'system' },
    )
  }
}
