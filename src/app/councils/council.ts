import { setTimeout as sleep } from 'node:timers/promises'
import type { RunCommand } from '../../core/councils/command.js'
import type { CoordinationRun } from '../../core/councils/council.js'
import { nextDeadline } from '../../core/councils/time-limits.js'
import type { ChatPart, ToolCall } from '../../participants/participant.js'
import type { CallResult } from '../../participants/run-turn.js'
import { StoreUnavailable } from '../../store/store.js'
import type { AppliedCommand } from './council-book.js'
import { type AskedParticipant, Seat, type Table } from './participant-slot.js'

/** The system clock may be changed, so deadlines are checked at least this often. */
const TICK_MS_MAX = 1000
const TICK_MS_MIN = 5
const STORE_RETRY_MS = 1000

interface CouncilParts {
  readonly tools: readonly string[]
  readonly apply: (command: RunCommand) => Promise<AppliedCommand>
  readonly look: (call: ToolCall, signal: AbortSignal) => Promise<CallResult>
  readonly isPaused: () => boolean
  readonly now: () => number
  readonly watch: (agent: string, part: ChatPart) => void
  readonly onFault: (error: unknown) => void
}

/** An open council: prompts the participants that Phaselock runs, and watches the deadlines of all. */
export class Council implements Table {
  readonly tools: readonly string[]
  readonly #abort = new AbortController()
  readonly #seats: Seat[] = []
  readonly #participants: AskedParticipant[] = []
  readonly #taken: Promise<void>[] = []
  readonly #waiting = new Set<() => void>()
  #version = 0
  #timer: NodeJS.Timeout | undefined

  constructor(
    private current: CoordinationRun,
    private readonly parts: CouncilParts,
  ) {
    this.tools = parts.tools
    this.#schedule()
  }

  /** Adds a participant and starts prompting it. */
  addSeat(id: string, participant: AskedParticipant): void {
    const seat = new Seat(id, participant, this)
    this.#seats.push(seat)
    this.#participants.push(participant)
    this.#taken.push(this.#keepTaking(seat))
  }

  run(): CoordinationRun {
    return this.current
  }

  getVersion(): number {
    return this.#version
  }

  apply(command: RunCommand): Promise<AppliedCommand> {
    return this.parts.apply(command)
  }

  look(call: ToolCall, signal: AbortSignal): Promise<CallResult> {
    return this.parts.look(call, signal)
  }

  isPaused(): boolean {
    return this.parts.isPaused()
  }

  watch(agent: string, part: ChatPart): void {
    this.parts.watch(agent, part)
  }

  async waitForChange(version: number, signal: AbortSignal): Promise<void> {
    while (this.#version === version && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#waiting.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
        this.#waiting.add(done)
        signal.addEventListener('abort', done, { once: true })
      })
    }
  }

  /** The state of the council changed, or agents were paused or resumed. */
  notice(run: CoordinationRun = this.current): void {
    this.current = run
    this.#version += 1
    for (const seat of this.#seats) seat.endIfOver()
    for (const wake of [...this.#waiting]) wake()
    this.#schedule()
  }

  /** Stops everything that runs for the council; its state stays unchanged. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#abort.abort()
    await Promise.all(this.#participants.map((one) => one.close?.().catch(this.parts.onFault)))
    await Promise.all(this.#taken)
  }

  // A store failure is retried; an internal error stops this agent only.
  async #keepTaking(seat: Seat): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted) {
      try {
        await seat.take(signal)
        return
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof StoreUnavailable) {
          await sleep(STORE_RETRY_MS, undefined, { signal }).catch(() => undefined)
          continue
        }
        this.parts.onFault(error)
        const command: RunCommand = { type: 'agent_failed', agent: seat.id, message: 'Phaselock failed to ask it.' }
        await this.apply(command).catch(this.parts.onFault)
        return
      }
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    const deadline = nextDeadline(this.current)
    if (deadline === null || this.#abort.signal.aborted) return
    const ms = Math.min(TICK_MS_MAX, Math.max(TICK_MS_MIN, deadline - this.parts.now()))
    this.#timer = setTimeout(() => void this.#tick(), ms)
    this.#timer.unref()
  }

  async #tick(): Promise<void> {
    try {
      const deadline = nextDeadline(this.current)
      if (deadline !== null && this.parts.now() >= deadline) await this.apply({ type: 'tick' })
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.parts.onFault(error)
    }
    this.#schedule()
  }
}
