import { contextOf } from '../app/app.js'
import { addAgent, buildAgentAnswer } from '../app/identity/administer.js'
import { ok, type Result } from '../app/result.js'
import { claimTask } from '../app/tasks/claim-task.js'
import { isPathConflict } from '../app/tasks/path-leases.js'
import type { DropCause } from '../core/contract/agent-programs.js'
import type { JsonObject } from '../core/json.js'
import type { Command } from '../core/task/command.js'
import type { TaskState } from '../core/task/state.js'
import { formatCount } from '../core/text.js'
import { AgentLife } from './agent-life.js'
import type { AgentProcess, ProcessEnd } from './agent-process.js'
import { buildWorkPrompt } from './agent-prompt.js'
import type { Start } from './start.js'
import { findAwaitedAnswer, findEnd, isHeldBy, type TaskEnd } from './task-view.js'

/** An agent that works on a task, through as many processes as allowed. */
export class WorkerLife extends AgentLife {
  /** Its process ended while it waited for people. */
  #isWaiting = false
  /** The back-off that its log shows. */
  #toldUntil = 0
  /** When its lease was last extended without a running process. */
  #extendedAt = 0
  /** An instance that was registered and has not claimed yet. */
  #spare: string | null = null
  /** The visit in which the current process asked people for something. */
  #asked: { readonly visit: number; readonly what: string } | null = null

  /** Claims the task for a new instance of the agent: tokens of the previous one are revoked. */
  async claim(): Promise<Result<ClaimedTask>> {
    const { app } = this.parts
    const state = await this.peek()
    const contract = state === null ? null : await app.contracts.get(state.contract.hash)
    const entry = contract?.agents?.get(this.spawn.entry ?? '') ?? null
    const capabilities = entry?.capabilities ?? []
    const added = await this.#register(capabilities)
    if (!added.ok) return added
    const instance = app.ledger.registry.agents.get(this.agentId)?.instance ?? ''
    const bearer = { kind: 'agent', agentId: this.agentId, instance } as const
    const asked = { bearer, capabilities, taskId: this.taskId, once: undefined, isSpawned: true } as const
    const claimed = await claimTask(app, asked)
    this.#spare = claimed.ok ? null : instance
    if (!claimed.ok) return claimed
    return { ok: true, value: { instance, token: String(added.value.agent_token), answer: claimed.value } }
  }

  // Repeated claims must not register a new instance each time.
  async #register(capabilities: readonly string[]): Promise<Result<JsonObject>> {
    const { app } = this.parts
    const agent = app.ledger.registry.agents.get(this.agentId)
    const isSpare = agent !== undefined && agent.instance === this.#spare && agent.revokedAt === null
    if (isSpare && agent.expiresAt - app.now() > TOKEN_LEFT_MS_MIN) return ok(buildAgentAnswer(app, agent))
    return addAgent(app, { agentId: this.agentId, capabilities }, { actor: 'system', once: undefined })
  }

  /** Resolves when the agent's work is over. `first`: an existing claim. */
  async run(first: ClaimedTask | null): Promise<void> {
    let claimed = first
    while (!this.isHalted) {
      if (claimed !== null) {
        await this.#attempt(claimed)
        claimed = null
        continue
      }
      const state = await this.peek()
      const over = findEnd(state, this.agentId)
      if (over !== null || state === null) return this.#over(over ?? GONE)
      if (this.#isRevoked) return this.#over(REVOKED)
      if (await this.#mustWait(state)) continue
      const result = await this.claim()
      if (result.ok) claimed = result.value
      else if (RETRIED.has(result.problem.code) || isPathConflict(result.problem))
        await this.bell.wait(this.parts.limits.retryMs)
      else return this.#over({ outcome: 'failed', reason: result.problem.detail })
    }
  }

  /** Continues after a server that stopped or was killed: its processes ended with it. */
  async resume(): Promise<void> {
    const { isRunning, instance } = this.spawn
    const end = { exitCode: null, detail: 'the server ended without stopping it' }
    if (isRunning) await this.#lose('server_killed', end, instance ?? '')
    await this.run(null)
  }

  // Waits for the back-off, and for people who have to answer first. True: check again.
  async #mustWait(state: TaskState): Promise<boolean> {
    const { app, limits } = this.parts
    const backOffMs = (state.claimableAt ?? 0) - app.now()
    if (backOffMs > 0) await this.#tellBackOff(state.claimableAt ?? 0, backOffMs)
    if (backOffMs > 0 || app.ledger.registry.paused !== null) {
      await this.bell.wait(backOffMs > 0 ? Math.min(backOffMs, limits.lookMs) : limits.lookMs)
      return true
    }
    if (!this.#isWaiting || findAwaitedAnswer(state) === null || state.held?.agentId !== this.agentId) {
      this.#isWaiting = false
      return false
    }
    // Nothing else keeps the lease while no process runs. The extension is an event and notifies this life like others
    // do: without a separate interval it would trigger itself endlessly.
    const leaseMs = (state.held.leaseExpiresAt - app.now()) / 2
    const dueAt = this.#extendedAt + Math.max(limits.retryMs, Math.min(leaseMs, HEARTBEAT_MS_MAX))
    if (dueAt > app.now()) await this.bell.wait(Math.min(dueAt - app.now(), HEARTBEAT_MS_MAX))
    if (dueAt > app.now()) return true
    this.#extendedAt = app.now()
    const now = await this.peek()
    if (now !== null && findAwaitedAnswer(now) !== null && now.held?.agentId === this.agentId && !this.isClosed)
      await this.#apply({ type: 'extend_lease' })
    return true
  }

  // Tells readers of its log why nothing happens.
  async #tellBackOff(until: number, backOffMs: number): Promise<void> {
    if (this.#toldUntil === until) return
    this.#toldUntil = until
    await this.write(`it is started again in ${formatCount(Math.ceil(backOffMs / 1000), 'second')}`)
  }

  async #attempt(claimed: ClaimedTask): Promise<void> {
    const { instance } = claimed
    this.parts.log.forgetLast()
    this.#asked = null
    let process: AgentProcess
    try {
      process = await this.launch(await this.#startOf(claimed), instance, `in ${String(claimed.answer.phase)}`)
    } catch (error) {
      const detail = `it could not be started: ${error instanceof Error ? error.message : String(error)}`
      return this.#lose('not_started', { exitCode: null, detail }, instance)
    }
    const isGone = await this.watch(process, (state) => !this.#isRevoked && this.#isOwn(state, instance))
    const end = await this.waitForEnd(process, (await this.peek())?.status === 'completed')
    if (this.isClosed) return this.note('server_stopped', { ...end, detail: 'the server was stopped' })
    if (this.isHalted) return
    const state = await this.peek()
    if (findEnd(state, this.agentId) !== null || this.#isRevoked) return
    if (!isGone) return this.note('silent', { ...end, detail: 'it made no call during its lease, and was stopped' })
    const awaited = end.exitCode === 0 ? this.#awaited(state) : null
    this.#isWaiting = awaited !== null
    if (awaited !== null) return this.note('exited', { ...end, detail: `it waits for ${awaited}` })
    await this.#lose('exited', end.exitCode === 0 ? { ...end, detail: UNFINISHED } : end, instance)
  }

  async #startOf({ token, answer }: ClaimedTask): Promise<Start> {
    const state = await this.parts.app.ledger.read(this.taskId)
    if (state === null) throw new Error('its task is gone')
    const contract = await this.parts.app.contracts.get(state.contract.hash)
    return {
      ...(await this.makeSetting(state, contract)),
      ...{ token, prompt: buildWorkPrompt(this.spawn, answer), contract: (answer.contract ?? {}) as JsonObject },
      atStart: null,
    }
  }

  // An operator has revoked its tokens: it gets no others.
  get #isRevoked(): boolean {
    return (this.parts.app.ledger.registry.agents.get(this.agentId)?.revokedAt ?? null) !== null
  }

  #isOwn(state: TaskState | null, instance: string): boolean {
    const isOwn = isHeldBy(state, this.agentId, instance)
    if (isOwn) this.#ask(state)
    return isOwn
  }

  #ask(state: TaskState | null): void {
    const what = state === null ? null : findAwaitedAnswer(state)
    if (state !== null && what !== null) this.#asked = { visit: state.visit, what }
  }

  // An agent whose question was answered while its process ended did nothing wrong either.
  #awaited(state: TaskState | null): string | null {
    this.#ask(state)
    return this.#asked?.visit === state?.visit ? (this.#asked?.what ?? null) : null
  }

  async #lose(cause: DropCause, end: ProcessEnd, instance: string): Promise<void> {
    await this.note(cause, end)
    const { agentId } = this
    await this.#apply({ type: 'drop_agent', agentId, instance, reason: end.detail })
  }

  async #over(over: TaskEnd): Promise<void> {
    const { outcome, reason } = over
    if (outcome === 'failed' || outcome === 'stopped')
      await this.#apply({ type: 'reassign', agentId: null, reason }, true)
    await this.end(over)
  }

  async #apply(command: Command, isOwnOnly = false): Promise<void> {
    const { app } = this.parts
    const state = await this.peek()
    if (state === null) return
    const contract = await app.contracts.get(state.contract.hash)
    const guard = (now: TaskState) =>
      !isOwnOnly || findEnd(now, this.agentId) === null ? null : { code: 'conflict' as const, detail: 'not its own' }
    await app.ledger.apply({ taskId: this.taskId, contract }, command, contextOf(app, 'system'), { guard })
  }
}

interface ClaimedTask {
  readonly instance: string
  readonly token: string
  /** What a claim answers. */
  readonly answer: JsonObject
}

const UNFINISHED = 'it ended with code 0 while the task is open'
const HEARTBEAT_MS_MAX = 60_000
const TOKEN_LEFT_MS_MIN = 7 * 24 * 3600 * 1000
const REVOKED: TaskEnd = { outcome: 'stopped', reason: 'Its tokens were revoked.' }
const GONE: TaskEnd = { outcome: 'taken', reason: 'The task is gone.' }
// Temporary refusals, such as paths that another task holds: a back-off, a pause of all agents, another process in
// between.
const RETRIED: ReadonlySet<string> = new Set([
  'task_not_active',
  'agents_paused',
  'store_unavailable',
  'already_claimed',
])
