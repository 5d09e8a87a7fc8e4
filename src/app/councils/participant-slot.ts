import type { RunCommand } from '../../core/councils/command.js'
import { type CoordinationRun, isAwaited, isPresenting, listUnseen } from '../../core/councils/council.js'
import { extractPresentation, isOnlyToolCalls } from '../../core/councils/judge-response.js'
import { buildParticipantView, type ParticipantView } from '../../core/councils/view.js'
import type { ChatPart, Message, Participant, ToolCall, Usage } from '../../participants/participant.js'
import { type CapturedText, retryMessages } from '../../participants/retry-prompt.js'
import {
  type CallResult,
  type JudgedResponse,
  runTurn,
  TURN_LIMITS,
  type TurnLimits,
  type TurnOutcome,
  type Verdict,
} from '../../participants/run-turn.js'
import type { AppliedCommand } from './council-book.js'
import {
  buildPresentationMessages,
  formatNews,
  listReadTools,
  listWorkflowTools,
  turnMessages,
} from './turn-prompts.js'

/** A participant that Phaselock prompts. `settle` reports the result of its turn to a participant that waits for it. */
export interface AskedParticipant extends Participant {
  readonly settle?: (messages: readonly Message[]) => void
  readonly close?: () => Promise<void>
}

/** What a participant slot can read of its council. */
export interface Table {
  /** Names of the read-only tools. */
  readonly tools: readonly string[]
  run(): CoordinationRun
  apply(command: RunCommand): Promise<AppliedCommand>
  look(call: ToolCall, signal: AbortSignal): Promise<CallResult>
  isPaused(): boolean
  /** Grows with every change. */
  getVersion(): number
  /** Resolves once `version` differs from this. */
  waitForChange(version: number, signal: AbortSignal): Promise<void>
  watch(agent: string, part: ChatPart): void
}

interface LostTurn {
  readonly message: string
  readonly buffer: CapturedText
  readonly calls: readonly ToolCall[]
}

const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** A participant that Phaselock prompts, turn after turn, as long as the council waits for it. */
export class Seat {
  #turn: AbortController | null = null
  #lost: LostTurn | null = null
  /** Tool calls already run in this response. */
  #earlier: ToolCall[] = []
  /** Reported by the agent's model server and not recorded yet. */
  readonly #used: Usage[] = []

  constructor(
    readonly id: string,
    private readonly participant: AskedParticipant,
    private readonly table: Table,
  ) {}

  /** Runs until the council is over, the agent is out, or `signal` fires. */
  async take(signal: AbortSignal): Promise<void> {
    for (;;) {
      const version = this.table.getVersion()
      const run = this.table.run()
      const agent = run.agents.get(this.id)
      if (signal.aborted || run.endedAt !== null || agent?.status !== 'live') return
      if (this.table.isPaused()) await this.table.waitForChange(version, signal)
      else if (this.#isPresenter()) await this.#present(signal)
      else if (isAwaited(run, agent)) await this.#begin(signal)
      else await this.table.waitForChange(version, signal)
    }
  }

  /** Ends a turn that is no longer needed. */
  endIfOver(): void {
    const run = this.table.run()
    const isOver = run.endedAt !== null || run.agents.get(this.id)?.status !== 'live'
    if (isOver || (run.result !== null && !this.#isPresenter())) this.#turn?.abort()
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const version = this.table.getVersion()
    const view = this.#view()
    const shown = view.answers.map((answer) => answer.label)
    const { outcome } = await this.table.apply({ type: 'turn_began', agent: this.id, shown })
    // Wait until the obstacle changes: retrying at once would starve the others.
    if (outcome.kind === 'refused') return this.table.waitForChange(version, signal)
    const lost = this.#lost
    const fresh = turnMessages(view)
    const messages = lost === null ? fresh : retryMessages(fresh, lost.message, lost)
    const tools = [...listWorkflowTools(view.needs_verdict), ...listReadTools(this.table.tools)]
    this.#earlier = []
    const ended = await this.#chat({ messages, tools }, signal, (response, aborts) => this.#judge(response, aborts))
    this.#lost = ended.type === 'restart' ? ended : null
    if (ended.type === 'accepted' || ended.type === 'stopped') this.participant.settle?.(ended.messages)
    if (ended.type === 'failed') await this.#failed(ended, signal)
  }

  async #chat(
    given: { readonly messages: readonly Message[]; readonly tools: ReturnType<typeof listWorkflowTools> },
    signal: AbortSignal,
    judge: (response: JudgedResponse, aborts: AbortSignal) => Verdict | Promise<Verdict>,
  ): Promise<TurnOutcome> {
    const turn = new AbortController()
    const abort = (): void => turn.abort()
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    this.#turn = turn
    try {
      let used = NO_USAGE
      const watch = (part: ChatPart): void => {
        if (part.type === 'usage') used = part
        // The last usage reported in an answer counts for the whole answer.
        if (part.type === 'end') {
          this.#used.push(used)
          used = NO_USAGE
        }
        this.table.watch(this.id, part)
      }
      const conversation = { ...given, signal: turn.signal, watch }
      const ended = await runTurn(this.participant, conversation, (one) => judge(one, turn.signal), this.#limits())
      await this.#recordUsage()
      return ended
    } finally {
      this.#turn = null
      signal.removeEventListener('abort', abort)
    }
  }

  /** Recorded before the response is judged: a vote may end the council, and nothing is recorded after that. */
  async #recordUsage(): Promise<void> {
    const tokens = sumUsage(this.#used.splice(0))
    const { input, output, cacheRead, cacheWrite } = tokens
    if (input + output + cacheRead + cacheWrite > 0) await this.table.apply({ type: 'usage', agent: this.id, tokens })
  }

  // The council's clock ends a round; this timeout only ends a stream that nothing else would end.
  #limits(): TurnLimits {
    return { ...TURN_LIMITS, totalMs: this.table.run().options.roundTimeoutSeconds * 1000 + 5000 }
  }

  async #judge(response: JudgedResponse, signal: AbortSignal): Promise<Verdict> {
    const known = this.table.tools
    const calls = response.calls.map(({ name, arguments: args }) => ({ name, arguments: args }))
    if (isOnlyToolCalls(calls, known)) {
      const results = await this.#look(response.calls, signal)
      this.#earlier.push(...response.calls)
      return { type: 'go_on', results: await this.#withNews(results) }
    }
    const toolCalls = [...this.#earlier.map(({ name, arguments: args }) => ({ name, arguments: args })), ...calls]
    this.#earlier = []
    await this.#recordUsage()
    const { outcome, run } = await this.table.apply({
      type: 'responded',
      agent: this.id,
      text: response.text,
      toolCalls,
      buffer: response.buffer.text,
      bufferChars: response.buffer.chars,
      handled: response.isInline ? 'inline' : 'restart',
      knownTools: known,
    })
    switch (outcome.kind) {
      case 'accepted':
        return { type: 'accepted' }
      case 'asked_again': {
        if (!response.isInline) return { type: 'restart', message: outcome.message }
        const news = formatAnswers(run, this.id, outcome.shown)
        return { type: 'refused', error: `${outcome.message}\n\n${news}` }
      }
      case 'rejected': {
        if (outcome.stopped !== null) return { type: 'stop', message: outcome.stopped }
        if (outcome.handled === 'restart') return { type: 'restart', message: outcome.message }
        // Known tools beside an invalid call are run anyway; votes and answers beside it have no effect.
        const beside = response.calls.filter(({ name }) => known.includes(name))
        const error = [outcome.message, ...(await this.#news())].join('\n\n')
        return { type: 'refused', error, results: await this.#look(beside, signal) }
      }
      case 'refused':
        return { type: 'stop', message: outcome.detail }
      case 'done':
        throw new Error('a response was neither accepted nor refused')
    }
  }

  #look(calls: readonly ToolCall[], signal: AbortSignal): Promise<readonly CallResult[]> {
    return Promise.all(calls.map((call) => this.table.look(call, signal)))
  }

  /** Answers that arrived since the agent's last view, as one text. Showing them is recorded. */
  async #news(): Promise<readonly string[]> {
    const run = this.table.run()
    const agent = run.agents.get(this.id)
    const shown = agent === undefined ? [] : listUnseen(run, agent).map((answer) => answer.label)
    if (shown.length === 0) return []
    const { outcome, run: after } = await this.table.apply({ type: 'injected', agent: this.id, shown })
    return outcome.kind === 'refused' ? [] : [formatAnswers(after, this.id, shown)]
  }

  async #withNews(results: readonly CallResult[]): Promise<readonly CallResult[]> {
    const news = await this.#news()
    return results.map((result, index) =>
      index === results.length - 1 ? { ...result, text: [result.text, ...news].join('\n\n') } : result,
    )
  }

  async #present(signal: AbortSignal): Promise<void> {
    const view = this.#view()
    await this.table.apply({ type: 'turn_began', agent: this.id, shown: view.answers.map((answer) => answer.label) })
    let text = ''
    const ended = await this.#chat({ messages: buildPresentationMessages(view), tools: [] }, signal, (response) => {
      text = extractPresentation(response.text, response.calls)
      return { type: 'accepted' }
    })
    if (ended.type === 'accepted') this.participant.settle?.(ended.messages)
    if (signal.aborted) return
    // A winner that does not present its answer still wins.
    await this.table.apply({ type: 'final_presented', agent: this.id, text: ended.type === 'accepted' ? text : '' })
  }

  async #failed(ended: TurnOutcome & { readonly type: 'failed' }, signal: AbortSignal): Promise<void> {
    const { failure } = ended
    if (signal.aborted) return
    if (failure.code === 'aborted' && this.table.run().agents.get(this.id)?.status !== 'live') return
    if (failure.code === 'aborted' && this.table.run().result !== null) return
    const { id: agent } = this
    if (failure.code === 'timed_out') await this.table.apply({ type: 'agent_timed_out', agent })
    else await this.table.apply({ type: 'agent_failed', agent, message: failure.message })
  }

  #isPresenter(): boolean {
    const run = this.table.run()
    return isPresenting(run) && run.result?.winner === this.id
  }

  #view(): ParticipantView {
    const view = buildParticipantView(this.table.run(), this.id)
    if (view === null) throw new Error(`the council has no agent ${this.id}`)
    return view
  }
}

function sumUsage(all: readonly Usage[]): Usage {
  const sum = (count: (one: Usage) => number): number => all.reduce((so, usage) => so + count(usage), 0)
  return {
    input: sum((usage) => usage.input),
    output: sum((usage) => usage.output),
    cacheRead: sum((usage) => usage.cacheRead),
    cacheWrite: sum((usage) => usage.cacheWrite),
  }
}

function formatAnswers(run: CoordinationRun, agent: string, labels: readonly string[]): string {
  return formatNews((buildParticipantView(run, agent)?.answers ?? []).filter(({ label }) => labels.includes(label)))
}
