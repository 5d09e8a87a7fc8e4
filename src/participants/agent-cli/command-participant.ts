import { join } from 'node:path'
import type { ConfinedCommand, Confinement } from '../../confinement/confinement.js'
import { type ChatFailure, type FailureCode, makeFailure } from '../model/failures.js'
import { redact } from '../model/redact.js'
import type { ChatEnd, ChatPart, Message, Participant } from '../participant.js'
import type { CommandAgent } from '../read-agents.js'
import { Bell } from '../wake-signal.js'
import { fillHome, type HarnessHome, makeHome } from './agent-cli-home.js'
import { type OfferAnswer, type OfferedCall, Offers } from './agent-cli-offers.js'
import { makeOutputReader } from './agent-cli-output.js'
import { HarnessProcess, type ProcessEnd, type ProcessLimits } from './agent-cli-process.js'
import { findProgram, type Program } from './agent-cli-program.js'
import { formatPrompt, lastResults } from './agent-cli-prompt.js'
import { type McpAddress, RECIPES, type Recipe } from './agent-cli-recipes.js'
import { resolveCommandAtStart, type TreeAtStart } from './command-at-start.js'

/** A participating agent CLI: it is started for a turn, and its calls come back over MCP. */
export interface CommandParticipant extends Participant {
  /** A call that arrived; the answer follows when it was judged. Never rejects. */
  offer(call: OfferedCall): Promise<OfferAnswer>
  /** The turn was accepted: waiting calls get their results from `messages`, then the process has a moment to end. */
  settle(messages: readonly Message[]): void
  /** Ends the running process. No other is started. */
  close(): Promise<void>
}

interface CommandLimits extends ProcessLimits {
  /** Calls that arrive this close together are one response. */
  readonly gatherMs: number
  /** How long to wait for a message that its model has not finished. */
  readonly gatherMsMax: number
  /** Time to end by itself after its turn was accepted. */
  readonly graceMs: number
  /** How long it waits for the answer to a call. */
  readonly decisionMs: number
  /** Time limit of one process. */
  readonly lifeMs: number
}

interface CommandOptions {
  readonly agent: CommandAgent
  readonly mcp: McpAddress
  /** How it is started: in the sandbox. */
  readonly start: Confinement['start']
  /** The source of the passed variables, and PATH. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /**
   * For a voting agent: the tree that is voted on. It runs nothing from there; files that its arguments name come from
   * the tree at the start.
   */
  readonly atStart?: () => Promise<TreeAtStart | null>
  readonly limits?: Partial<CommandLimits>
}

export const COMMAND_LIMITS: CommandLimits = {
  gatherMs: 150,
  gatherMsMax: 60_000,
  graceMs: 5_000,
  decisionMs: 300_000,
  lifeMs: 3_600_000,
  outputBytesMax: 64 * 1024 * 1024,
  lineCharsMax: 4 * 1024 * 1024,
}

export function makeCommandParticipant(options: CommandOptions): CommandParticipant {
  return new CommandRunner(options)
}

interface Running {
  readonly process: HarnessProcess
  readonly offers: Offers
}

class CommandRunner implements CommandParticipant {
  readonly id: string
  readonly takesToolErrors = true
  readonly #limits: CommandLimits
  readonly #recipe: Recipe
  readonly #passed: Readonly<Record<string, string>>
  readonly #secrets: readonly string[]
  readonly #bell = new Bell()
  #running: Running | null = null
  #timer: NodeJS.Timeout | null = null
  #calls = 0
  #isClosed = false

  constructor(private readonly options: CommandOptions) {
    this.id = options.agent.id
    this.#limits = { ...COMMAND_LIMITS, ...options.limits }
    this.#recipe = RECIPES[options.agent.harness]
    this.#passed = pickPassed(this.#recipe, options)
    this.#secrets = [options.mcp.token, ...this.#recipe.secrets.flatMap((name) => this.#passed[name] ?? [])]
  }

  chat(messages: readonly Message[], _tools: unknown, signal: AbortSignal): AsyncIterable<ChatPart> {
    return this.#chat(messages, signal)
  }

  offer(call: OfferedCall): Promise<OfferAnswer> {
    const offers = this.#running?.offers
    return offers === undefined ? Promise.resolve(NOT_RUNNING) : offers.add(call, Date.now())
  }

  settle(messages: readonly Message[]): void {
    const running = this.#running
    if (running === null) return
    running.offers.answer(lastResults(messages))
    running.offers.close()
    this.#endAfter(this.#limits.graceMs)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end()
  }

  async *#chat(messages: readonly Message[], signal: AbortSignal): AsyncGenerator<ChatPart, void, undefined> {
    const goesOn = this.#running?.process.end === null && this.#running.offers.answer(lastResults(messages))
    if (!goesOn) {
      const failure = await this.#begin(messages, signal)
      if (failure !== null) {
        yield { type: 'end', reason: 'failed', failure }
        return
      }
    }
    this.#endAfter(null)
    if (this.#running !== null) yield* this.#stream(this.#running, signal)
  }

  async *#stream(running: Running, signal: AbortSignal): AsyncGenerator<ChatPart, void, undefined> {
    const { process, offers } = running
    const wake = (): void => this.#bell.ring()
    signal.addEventListener('abort', wake, { once: true })
    let isKept = false
    try {
      for (;;) {
        // Earlier output is reported first: the parts are taken after checking what comes next.
        const { end } = process
        const waitMs = this.#waitMs(running)
        for (const part of process.takeParts()) yield { ...part, text: this.#masked(part.text) }
        if (signal.aborted) return yield this.#failed('aborted')
        if (waitMs === 0) {
          for (const call of offers.take(process.takeAnnounced())) yield { type: 'tool_call', ...call }
          yield { type: 'usage', ...process.takeUsage() }
          isKept = true
          this.#endAfter(this.#limits.decisionMs)
          return yield { type: 'end', reason: 'tool_calls' }
        }
        if (end !== null && waitMs === null) {
          yield { type: 'usage', ...process.takeUsage() }
          return yield this.#endOf(end)
        }
        await this.#bell.wait(waitMs)
      }
    } finally {
      signal.removeEventListener('abort', wake)
      if (!isKept) await this.#end()
    }
  }

  /** How long more calls of the same response may arrive; null when there is none yet. */
  #waitMs({ process, offers }: Running): number | null {
    if (!offers.hasWaiting) return null
    if (process.end !== null) return 0
    const { gatherMs, gatherMsMax } = this.#limits
    const now = Date.now()
    const isLong = now - offers.firstAt >= gatherMsMax
    if (isLong) return 0
    const left = Math.max(0, offers.lastAt + gatherMs - now)
    return left === 0 && process.isWriting ? offers.firstAt + gatherMsMax - now : left
  }

  async #begin(messages: readonly Message[], signal: AbortSignal): Promise<ChatFailure | null> {
    await this.#end()
    if (signal.aborted || this.#isClosed) return makeFailure('aborted')
    const home = makeHome()
    try {
      const program = await this.#program(home)
      if (!program.ok) {
        home.remove()
        return makeFailure('not_started', { detail: program.detail })
      }
      const confined = await this.#start(home, program)
      this.#running = this.#watched(confined, home)
      confined.stdin.end(formatPrompt(messages))
    } catch (error) {
      home.remove()
      const detail = this.#shown(error instanceof Error ? error.message : String(error))
      return makeFailure('not_started', { detail })
    }
    if (!this.#isClosed) return null
    await this.#end()
    return makeFailure('aborted')
  }

  async #program(home: HarnessHome): Promise<FoundProgram> {
    const { agent, environment, atStart } = this.options
    const start = (await atStart?.()) ?? null
    const name = agent.command ?? this.#recipe.program ?? ''
    const program = findProgram(name, agent.args, environment.PATH ?? '', start?.tree ?? null)
    if (!program.ok || start === null) return program.ok ? { ...program, args: agent.args } : program
    // The copy is next to its working directory, in the only folder that it sees.
    const found = await resolveCommandAtStart(
      { name: program.path, args: agent.args },
      start,
      join(home.dir, 'tree-at-start'),
    )
    return found.ok ? { ...program, args: found.command.args } : found
  }

  #start(home: HarnessHome, program: Extract<FoundProgram, { ok: true }>): Promise<ConfinedCommand> {
    const { agent, mcp, start } = this.options
    const { files, args, env } = this.#recipe.prepare({
      home: home.home,
      mcp,
      model: agent.model,
      passed: this.#passed,
      readsProject: false,
    })
    fillHome(home.home, files)
    return start({
      tree: home.dir,
      argv: [program.path, ...args, ...program.args],
      cwd: 'work',
      env: { HOME: home.home, TMPDIR: home.temporary, ...env, ...this.#passed },
      network: true,
      writes: 'discard',
      git: 'read',
      shown: program.shown,
      hidden: [],
      signal: new AbortController().signal,
      timeoutMs: this.#limits.lifeMs,
    })
  }

  #watched(confined: ConfinedCommand, home: HarnessHome): Running {
    const ring = (): void => this.#bell.ring()
    const nextId = (): string => {
      this.#calls += 1
      return `call-${this.#calls}`
    }
    const process = new HarnessProcess(confined, makeOutputReader(this.options.agent.harness), this.#limits, ring)
    void process.gone.then(() => home.remove())
    return { process, offers: new Offers(nextId, ring) }
  }

  /** Ends the process later; null: without a time limit. */
  #endAfter(ms: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = ms === null ? null : setTimeout(() => void this.#end(), ms)
    this.#timer?.unref()
  }

  async #end(): Promise<void> {
    this.#endAfter(null)
    const running = this.#running
    this.#running = null
    if (running === null) return
    running.offers.close()
    await running.process.kill()
  }

  #endOf(end: ProcessEnd): ChatEnd {
    return end.type === 'done' ? { type: 'end', reason: 'stop' } : this.#failed(end.code, end.detail)
  }

  #failed(code: FailureCode, detail = ''): ChatEnd {
    return { type: 'end', reason: 'failed', failure: makeFailure(code, { detail: this.#shown(detail) }) }
  }

  #shown(text: string): string {
    return this.#secrets.reduce((shown, secret) => redact(shown, secret), redact(text, null))
  }

  #masked(text: string): string {
    return this.#secrets.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text)
  }
}

type FoundProgram =
  | (Extract<Program, { ok: true }> & { readonly args: readonly string[] })
  | { readonly ok: false; readonly detail: string }

const NOT_RUNNING: OfferAnswer = { text: 'It is not your turn: nothing that is called now counts.', isError: true }

/** The server's variables that the agent gets. Even with a proxy it reaches Phaselock directly. */
function pickPassed(recipe: Recipe, { environment, mcp }: CommandOptions): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {}
  for (const name of recipe.passes) {
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined
    if (value !== undefined && value !== '') passed[name] = value
  }
  if (passed.HTTP_PROXY === undefined && passed.HTTPS_PROXY === undefined) return passed
  return { ...passed, NO_PROXY: [passed.NO_PROXY ?? '', new URL(mcp.url).hostname].filter(Boolean).join(',') }
}
