import { addAgent } from '../app/administer.js'
import { type App, contextOf } from '../app/app.js'
import { claimTask } from '../app/claim-task.js'
import { isPathConflict } from '../app/path-leases.js'
import { reservedIn } from '../app/reserved.js'
import type { Result } from '../app/result.js'
import type { Command } from '../core/command.js'
import type { JsonObject } from '../core/contract.js'
import type { DropCause, Spawn } from '../core/spawns.js'
import type { TaskState } from '../core/state.js'
import type { AgentLog } from './agent-log.js'
import type { AgentProcess, ProcessEnd, Start } from './agent-process.js'
import { workPrompt } from './agent-prompt.js'
import { Bell } from './bell.js'
import type { SpawnLimits } from './port.js'
import { isHeldBy, type Over, overFor, waitsFor } from './task-view.js'
import { wallFor } from './wall-for.js'

export interface LifeParts {
  readonly app: App
  readonly limits: SpawnLimits
  readonly start: (start: Start) => Promise<AgentProcess>
  readonly log: AgentLog
}

/** An agent that works on a task, through as many processes as it may take. */
export class WorkerLife {
  readonly #bell = new Bell()
  #process: AgentProcess | null = null
  #isClosed = false
  #stopped: string | null = null
  /** Its process ended while people had to do something. */
  #isWaiting = false
  /** The visit in which the process that runs now asked people for something. */
  #asked: { readonly visit: number; readonly what: string } | null = null
  #last: ProcessEnd = { exitCode: null, detail: '' }

  constructor(
    readonly agentId: string,
    readonly taskId: string,
    private readonly parts: LifeParts,
  ) {}

  /** Something happened to its task, or around it. */
  notice(): void {
    this.#bell.ring()
  }

  /** Its process is ended and none is started any more. What becomes of the task is the caller's to say. */
  async stop(reason: string): Promise<void> {
    this.#stopped = reason
    this.#bell.ring()
    await this.#process?.kill()
  }

  /** The server stops: the agent goes on with the next one. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#bell.ring()
    await this.#process?.kill()
  }

  /** Claims the task for a new instance of the agent: tokens of the one before are dead from here on. */
  async claim(): Promise<Result<Claimed>> {
    const { app } = this.parts
    const state = await app.ledger.peek(this.taskId)
    const contract = state === null ? null : await app.contracts.get(state.contract.hash)
    const entry = contract?.agents?.get(this.spawn.entry ?? '') ?? null
    const capabilities = entry?.capabilities ?? []
    const by = { actor: 'system', once: undefined }
    const added = await addAgent(app, { agentId: this.agentId, capabilities }, by)
    if (!added.ok) return added
    const instance = app.ledger.registry.agents.get(this.agentId)?.instance ?? ''
    const bearer = { kind: 'agent', agentId: this.agentId, instance } as const
    const asked = { bearer, capabilities, taskId: this.taskId, once: undefined, isSpawned: true } as const
    const claimed = await claimTask(app, asked)
    if (!claimed.ok) return claimed
    return { ok: true, value: { instance, token: String(added.value.agent_token), answer: claimed.value } }
  }

  /** Ends when there is nothing left to do for the agent. `first`: what was claimed already. */
  async run(first: Claimed | null): Promise<void> {
    let claimed = first
    while (!this.#isClosed && this.#stopped === null) {
      if (claimed !== null) {
        await this.#attempt(claimed)
        claimed = null
        continue
      }
      const state = await this.parts.app.ledger.peek(this.taskId)
      const over = overFor(state, this.agentId)
      if (over !== null || state === null) return this.#end(over ?? GONE)
      if (await this.#mustWait(state)) continue
      const result = await this.claim()
      if (result.ok) claimed = result.value
      else if (RETRIED.has(result.problem.code) || isPathConflict(result.problem))
        await this.#bell.wait(this.parts.limits.retryMs)
      else return this.#end({ outcome: 'failed', reason: result.problem.detail })
    }
  }

  /** Goes on after a server that stopped or was killed: with it went its processes. */
  async resume(): Promise<void> {
    const { isRunning, instance } = this.spawn
    const end = { exitCode: null, detail: 'the server ended without stopping it' }
    if (isRunning) await this.#lose('server_killed', end, instance ?? '')
    await this.run(null)
  }

  get spawn(): Spawn {
    const spawn = this.parts.app.ledger.registry.spawns.get(this.agentId)
    if (spawn === undefined) throw new Error(`agent ${this.agentId} was never started`)
    return spawn
  }

  /** The end of its process, as far as it is known. */
  get last(): ProcessEnd {
    return this.#last
  }

  // Back-off, and people who have to answer first. True: look again.
  async #mustWait(state: TaskState): Promise<boolean> {
    const { app, limits } = this.parts
    const backOffMs = (state.claimableAt ?? 0) - app.now()
    if (backOffMs > 0 || app.ledger.registry.paused !== null) {
      await this.#bell.wait(backOffMs > 0 ? Math.min(backOffMs, limits.lookMs) : limits.lookMs)
      return true
    }
    if (!this.#isWaiting || waitsFor(state) === null || state.held?.agentId !== this.agentId) {
      this.#isWaiting = false
      return false
    }
    // Nobody else speaks for it while no process runs.
    const leaseMs = (state.held.leaseExpiresAt - app.now()) / 2
    await this.#bell.wait(Math.max(limits.retryMs, Math.min(leaseMs, HEARTBEAT_MS_MAX)))
    const now = await app.ledger.peek(this.taskId)
    if (now !== null && waitsFor(now) !== null && now.held?.agentId === this.agentId && !this.#isClosed)
      await this.#apply({ type: 'extend_lease' })
    return true
  }

  async #attempt(claimed: Claimed): Promise<void> {
    const { app, log } = this.parts
    const { agentId, taskId } = this
    const { instance } = claimed
    log.forgetLast()
    this.#asked = null
    try {
      const start = await this.#startOf(claimed)
      await app.ledger.record({ type: 'agent_started', agentId, taskId, instance }, this.#by())
      await log.write([
        `--- ${new Date(app.now()).toISOString()} start ${this.spawn.starts} in ${String(claimed.answer.phase)}`,
      ])
      this.#process = await this.parts.start(start)
    } catch (error) {
      const detail = `it could not be started: ${error instanceof Error ? error.message : String(error)}`
      return this.#lose('not_started', { exitCode: null, detail }, instance)
    }
    if (this.#isClosed || this.#stopped !== null) void this.#process.kill()
    const isGone = await this.#watch(this.#process, instance)
    const end = await this.#ended(this.#process)
    this.#process = null
    this.#last = end
    await log.write([`--- ${new Date(app.now()).toISOString()} ${end.detail}`])
    if (this.#isClosed) return this.#note('server_stopped', { ...end, detail: 'the server was stopped' })
    if (this.#stopped !== null) return
    const state = await app.ledger.peek(taskId)
    if (overFor(state, agentId) !== null) return
    if (!isGone) return this.#note('silent', { ...end, detail: 'it was not heard of for its lease' })
    const awaited = end.exitCode === 0 ? this.#awaited(state) : null
    this.#isWaiting = awaited !== null
    if (awaited !== null) return this.#note('exited', { ...end, detail: `it waits for ${awaited}` })
    await this.#lose('exited', end.exitCode === 0 ? { ...end, detail: UNFINISHED } : end, instance)
  }

  async #startOf({ token, answer }: Claimed): Promise<Start> {
    const { app, log } = this.parts
    const state = await app.ledger.read(this.taskId)
    if (state === null) throw new Error('its task is gone')
    const contract = await app.contracts.get(state.contract.hash)
    const { spawn } = this
    return {
      ...{ spawn, token, log, entry: contract.agents?.get(spawn.entry ?? '') ?? null },
      prompt: workPrompt(spawn, answer),
      contract: (answer.contract ?? {}) as JsonObject,
      tree: state.workspace,
      hidden: reservedIn(app, contract, state.workspace).hidden,
      wall: await wallFor(app, contract),
    }
  }

  /** True when the process ended by itself; false when its task is no longer its own. */
  async #watch(process: AgentProcess, instance: string): Promise<boolean> {
    let isGone = false
    const gone = process.done.then(() => {
      isGone = true
      this.#bell.ring()
    })
    gone.catch(() => undefined)
    while (!isGone) {
      const state = await this.parts.app.ledger.peek(this.taskId)
      if (!isHeldBy(state, this.agentId, instance)) return isGone
      this.#ask(state)
      if (!isGone) await this.#bell.wait(this.parts.limits.lookMs)
    }
    return true
  }

  #ask(state: TaskState | null): void {
    const what = state === null ? null : waitsFor(state)
    if (state !== null && what !== null) this.#asked = { visit: state.visit, what }
  }

  // Whoever was answered while its process ended has done nothing wrong either.
  #awaited(state: TaskState | null): string | null {
    this.#ask(state)
    return this.#asked?.visit === state?.visit ? (this.#asked?.what ?? null) : null
  }

  // One that has done its work may end by itself; one that lost it is ended.
  async #ended(process: AgentProcess): Promise<ProcessEnd> {
    const state = await this.parts.app.ledger.peek(this.taskId)
    if (state?.status !== 'completed' || this.#isClosed) return process.kill()
    const timer = setTimeout(() => void process.kill(), this.parts.limits.graceMs)
    try {
      return await process.done
    } finally {
      clearTimeout(timer)
    }
  }

  async #lose(cause: DropCause, end: ProcessEnd, instance: string): Promise<void> {
    this.#last = end
    await this.#note(cause, end)
    const { agentId } = this
    await this.#apply({ type: 'drop_agent', agentId, instance, reason: end.detail })
  }

  async #note(cause: DropCause, { exitCode, detail }: ProcessEnd): Promise<void> {
    const { app, log } = this.parts
    const { agentId, taskId } = this
    const lastLines = log.lastLines
    await app.ledger.record(
      { type: 'agent_process_lost', agentId, taskId, cause, exitCode, detail, lastLines },
      this.#by(),
    )
  }

  async #end({ outcome, reason }: Over): Promise<void> {
    const { app, log } = this.parts
    const { agentId, taskId } = this
    if (outcome === 'failed') await this.#apply({ type: 'reassign', agentId: null, reason }, true)
    const { exitCode } = this.#last
    await app.ledger.record(
      { type: 'agent_ended', agentId, taskId, outcome, reason, exitCode, lastLines: log.lastLines },
      this.#by(),
    )
  }

  async #apply(command: Command, isOwnOnly = false): Promise<void> {
    const { app } = this.parts
    const state = await app.ledger.peek(this.taskId)
    if (state === null) return
    const contract = await app.contracts.get(state.contract.hash)
    const guard = (now: TaskState) =>
      !isOwnOnly || overFor(now, this.agentId) === null ? null : { code: 'conflict' as const, detail: 'not its own' }
    await app.ledger.apply({ taskId: this.taskId, contract }, command, contextOf(app, 'system'), { guard })
  }

  #by(): { readonly now: number; readonly actor: string } {
    return { now: this.parts.app.now(), actor: 'system' }
  }
}

export interface Claimed {
  readonly instance: string
  readonly token: string
  /** What a claim answers. */
  readonly answer: JsonObject
}

const UNFINISHED = 'it ended with code 0 while the task is open'
const HEARTBEAT_MS_MAX = 60_000
const GONE: Over = { outcome: 'taken', reason: 'The task is gone.' }
// What passes with time, as paths do that another task holds: a back-off, a pause of all agents, another process in between.
const RETRIED: ReadonlySet<string> = new Set([
  'task_not_active',
  'agents_paused',
  'store_unavailable',
  'already_claimed',
])
