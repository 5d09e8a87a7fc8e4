import type { App } from '../app/app.js'
import type { StoredEvent } from '../app/ledger/feed.js'
import { getReserved } from '../app/tool-calls/contract-paths.js'
import type { DropCause, Spawn } from '../core/contract/agent-programs.js'
import type { Contract } from '../core/contract/contract.js'
import type { TaskState } from '../core/task/state.js'
import { Bell } from '../participants/wake-signal.js'
import type { AgentLog } from './agent-log.js'
import type { AgentProcess, ProcessEnd } from './agent-process.js'
import { requireSandbox } from './agent-sandbox.js'
import { formatCallLine } from './call-lines.js'
import type { SpawnLimits } from './spawn-limits.js'
import type { Start } from './start.js'
import type { TaskEnd } from './task-view.js'

export interface LifeParts {
  readonly app: App
  readonly limits: SpawnLimits
  readonly start: (start: Start) => Promise<AgentProcess>
  readonly log: AgentLog
}

/** The environment of its process, whatever its prompt is. */
type Setting = Pick<Start, 'spawn' | 'entry' | 'tree' | 'hidden' | 'sandbox' | 'log'>

/** Before the first process, and if none could be started. */
const NO_END: ProcessEnd = { exitCode: null, detail: '' }

/** An agent that Phaselock started: at most one process at a time, until its work is over. */
export abstract class AgentLife {
  protected readonly bell = new Bell()
  #process: AgentProcess | null = null
  #isClosed = false
  #isStopped = false
  #last: ProcessEnd = NO_END

  constructor(
    readonly agentId: string,
    readonly taskId: string,
    protected readonly parts: LifeParts,
  ) {}

  /** Its task changed, or something it depends on. */
  notice(): void {
    this.bell.ring()
  }

  /** Logs its calls and their results. */
  async logCall(event: StoredEvent): Promise<void> {
    const { agentId, spawn } = this
    const line = formatCallLine(event, spawn.review === null ? { agentId } : { reviewer: spawn.review.name })
    if (line !== null) await this.write(line)
  }

  /** Ends its process and starts no other. The caller decides what happens to the task. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.bell.ring()
    await this.#process?.kill()
  }

  /** The server stops: the agent continues with the next one. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.bell.ring()
    await this.#process?.kill()
  }

  get spawn(): Spawn {
    const spawn = this.parts.app.ledger.registry.spawns.get(this.agentId)
    if (spawn === undefined) throw new Error(`agent ${this.agentId} was never started`)
    return spawn
  }

  /** How its process ended, as far as known. */
  get last(): ProcessEnd {
    return this.#last
  }

  protected get isClosed(): boolean {
    return this.#isClosed
  }

  protected get isHalted(): boolean {
    return this.#isClosed || this.#isStopped
  }

  protected peek(): Promise<TaskState | null> {
    return this.parts.app.ledger.peek(this.taskId)
  }

  protected async makeSetting(state: TaskState, contract: Contract): Promise<Setting> {
    const { app, log } = this.parts
    const { spawn } = this
    return {
      ...{ spawn, log, entry: contract.agents?.get(spawn.entry ?? '') ?? null, tree: state.workspace },
      hidden: getReserved(app, contract, state.workspace).hidden,
      sandbox: await requireSandbox(app, contract),
    }
  }

  /** Recorded before the process exists, so that the next server knows it even if this one is killed. */
  protected async launch(start: Start, instance: string, how: string): Promise<AgentProcess> {
    const { agentId, taskId } = this
    await this.parts.app.ledger.record({ type: 'agent_started', agentId, taskId, instance }, this.#by())
    await this.write(`start ${this.spawn.starts} ${how}`)
    const process = await this.parts.start(start)
    this.#process = process
    if (this.isHalted) void process.kill()
    return process
  }

  /** True when the process ended by itself; false when its work is over. */
  protected async watch(process: AgentProcess, isWanted: (state: TaskState | null) => boolean): Promise<boolean> {
    let isGone = false
    const gone = process.done.then(() => {
      isGone = true
      this.bell.ring()
    })
    gone.catch(() => undefined)
    while (!isGone) {
      if (!isWanted(await this.peek())) return isGone
      if (!isGone) await this.bell.wait(this.parts.limits.lookMs)
    }
    return true
  }

  /** An agent that is done may end by itself; one that lost its task is ended. */
  protected async waitForEnd(process: AgentProcess, hasDoneItsWork: boolean): Promise<ProcessEnd> {
    const mayGoOn = hasDoneItsWork && !this.isHalted
    const timer = setTimeout(() => void process.kill(), mayGoOn ? this.parts.limits.graceMs : 0)
    try {
      this.#last = await process.done
    } finally {
      clearTimeout(timer)
    }
    this.#process = null
    await this.write(this.#last.detail)
    return this.#last
  }

  /** Records why there is no process any more. */
  protected async note(cause: DropCause, end: ProcessEnd = this.#last): Promise<void> {
    const { app, log } = this.parts
    const { agentId, taskId } = this
    const { exitCode, detail } = end
    const isTold = this.#last.detail === detail
    this.#last = end
    await app.ledger.record(
      { type: 'agent_process_lost', agentId, taskId, cause, exitCode, detail, lastLines: log.lastLines },
      this.#by(),
    )
    if (!isTold) await this.write(detail)
  }

  /** Its work is over. */
  protected async end({ outcome, reason }: TaskEnd): Promise<void> {
    const { app, log } = this.parts
    const { agentId, taskId } = this
    const { exitCode } = this.#last
    await app.ledger.record(
      { type: 'agent_ended', agentId, taskId, outcome, reason, exitCode, lastLines: log.lastLines },
      this.#by(),
    )
  }

  /** A line by Phaselock in the agent's log. */
  protected async write(what: string): Promise<void> {
    const { app, log } = this.parts
    await log.write([`--- ${new Date(app.now()).toISOString()} ${what}`])
  }

  #by(): { readonly now: number; readonly actor: string } {
    return { now: this.parts.app.now(), actor: 'system' }
  }
}
