import { assertUnreachable } from '../core/unreachable.js'
import { type ChatFailure, makeFailure } from './model/failures.js'
import { type Response, readResponse } from './model/read-response.js'
import type { ChatPart, EndReason, Message, Participant, ToolCall, ToolSpec, Usage } from './participant.js'
import { type CapturedText, capture } from './retry-prompt.js'

interface Conversation {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  readonly signal: AbortSignal
  /** News since the last call; delivered with the results of the calls, never in between. */
  readonly news?: () => readonly string[]
  /** Called with every part as it arrives. */
  readonly watch?: (part: ChatPart) => void
}

export interface TurnLimits {
  readonly responsesMax: number
  /** Of text and reasoning in the whole turn. */
  readonly charsMax: number
  readonly totalMs: number
}

export const TURN_LIMITS: TurnLimits = { responsesMax: 50, charsMax: 2_000_000, totalMs: 600_000 }

/** One complete answer of a participant, to be judged. */
export interface JudgedResponse {
  /** From 1 in each turn. */
  readonly number: number
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly reason: EndReason
  /** Whether a refusal of it can be sent in the same conversation. */
  readonly isInline: boolean
  /** All text of the turn so far. */
  readonly buffer: CapturedText
}

export interface CallResult {
  readonly callId: string
  readonly text: string
  readonly isError: boolean
}

/**
 * `accepted` ends the turn. `go_on` delivers results and asks for the next answer. `refused` does so with the error for
 * every call without a result; if that cannot be sent inline, it is a restart. `stop` ends the turn permanently.
 */
export type Verdict =
  | { readonly type: 'accepted'; readonly results?: readonly CallResult[] }
  | { readonly type: 'go_on'; readonly results: readonly CallResult[] }
  | { readonly type: 'refused'; readonly error: string; readonly results?: readonly CallResult[] }
  | { readonly type: 'restart'; readonly message: string }
  | { readonly type: 'stop'; readonly message: string }

export type Judge = (response: JudgedResponse) => Verdict | Promise<Verdict>

interface TurnFacts {
  /** The conversation so far. After `accepted` it can be continued; before a restart it ends before the last answer. */
  readonly messages: readonly Message[]
  readonly buffer: CapturedText
  /** The calls of the last answer. */
  readonly calls: readonly ToolCall[]
  readonly responses: number
  readonly usage: Usage
  /** The delivered news, in order. */
  readonly told: readonly string[]
}

export type TurnOutcome =
  | ({ readonly type: 'accepted' } & TurnFacts)
  | ({ readonly type: 'restart'; readonly message: string } & TurnFacts)
  | ({ readonly type: 'stopped'; readonly message: string } & TurnFacts)
  | ({ readonly type: 'failed'; readonly failure: ChatFailure } & TurnFacts)

const ACCEPTED = 'Accepted.'
const NOT_RUN = 'This call has no result: it was not run.'

/** Drives one turn: answers are streamed and judged until one is accepted, or until the turn has to start again or end. */
export async function runTurn(
  participant: Participant,
  conversation: Conversation,
  judge: Judge,
  limits: TurnLimits = TURN_LIMITS,
): Promise<TurnOutcome> {
  const deadline = new Deadline(conversation.signal, limits.totalMs)
  try {
    const turn = new Turn(conversation)
    for (let number = 1; number <= limits.responsesMax; number += 1) {
      const stream = participant.chat(turn.messages, conversation.tools, deadline.signal)
      const response = await readResponse(stream, limits.charsMax - turn.chars, conversation.watch)
      turn.add(response)
      if (response.end.reason === 'failed')
        return { type: 'failed', failure: deadline.judge(response.end.failure), ...turn.collectFacts() }
      const verdict = await judge(turn.toJudgedResponse(participant, number, response))
      const outcome = turn.apply(verdict, response, participant.takesToolErrors)
      if (outcome !== null) return outcome
    }
    return { type: 'failed', failure: makeFailure('too_many_responses'), ...turn.collectFacts() }
  } finally {
    deadline.close()
  }
}

/** The caller's signal combined with a time limit, and which of the two fired. */
class Deadline {
  private readonly controller = new AbortController()
  private readonly caller: AbortSignal
  private readonly timer: NodeJS.Timeout
  private readonly abort = (): void => this.controller.abort()

  constructor(caller: AbortSignal, ms: number) {
    this.caller = caller
    this.timer = setTimeout(this.abort, ms)
    if (caller.aborted) this.abort()
    else caller.addEventListener('abort', this.abort, { once: true })
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  judge(failure: ChatFailure): ChatFailure {
    const isLate = failure.code === 'aborted' && this.signal.aborted && !this.caller.aborted
    return isLate ? makeFailure('timed_out', { attempts: failure.attempts, status: failure.status }) : failure
  }

  close(): void {
    clearTimeout(this.timer)
    this.caller.removeEventListener('abort', this.abort)
  }
}

/** The state of a turn. */
class Turn {
  messages: readonly Message[]
  chars = 0
  private streamed = ''
  private responses = 0
  private calls: readonly ToolCall[] = []
  private usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  private readonly told: string[] = []
  private readonly news: () => readonly string[]

  constructor(conversation: Conversation) {
    this.messages = conversation.messages
    this.news = conversation.news ?? (() => [])
  }

  add(response: Response): void {
    this.responses += 1
    this.chars += response.chars
    this.streamed += response.text
    this.calls = response.calls
    const { input, output, cacheRead, cacheWrite } = response.usage
    this.usage = {
      input: this.usage.input + input,
      output: this.usage.output + output,
      cacheRead: this.usage.cacheRead + cacheRead,
      cacheWrite: this.usage.cacheWrite + cacheWrite,
    }
  }

  toJudgedResponse(participant: Participant, number: number, response: Response): JudgedResponse {
    const { text, calls, end } = response
    const reason = end.reason === 'failed' ? 'other' : end.reason
    const isInline = participant.takesToolErrors && calls.length > 0
    return { number, text, calls, reason, isInline, buffer: capture(this.streamed) }
  }

  apply(verdict: Verdict, response: Response, takesToolErrors: boolean): TurnOutcome | null {
    switch (verdict.type) {
      case 'accepted':
        this.answer(response, verdict.results ?? [], { text: ACCEPTED, isError: false })
        return { type: 'accepted', ...this.collectFacts() }
      case 'go_on':
        if (response.calls.length === 0) throw new Error('an answer without calls has no results to go on with')
        this.answer(response, verdict.results, { text: NOT_RUN, isError: true }, this.news())
        return null
      case 'refused':
        if (!takesToolErrors || response.calls.length === 0)
          return { type: 'restart', message: verdict.error, ...this.collectFacts() }
        this.answer(response, verdict.results ?? [], { text: verdict.error, isError: true }, this.news())
        return null
      case 'restart':
        return { type: 'restart', message: verdict.message, ...this.collectFacts() }
      case 'stop':
        return { type: 'stopped', message: verdict.message, ...this.collectFacts() }
      default:
        return assertUnreachable(verdict)
    }
  }

  collectFacts(): TurnFacts {
    const { messages, calls, responses, usage, told } = this
    return { messages, buffer: capture(this.streamed), calls, responses, usage, told: [...told] }
  }

  /** Every call gets exactly one result, or no server would accept the conversation. News are added to the last one. */
  private answer(
    response: Response,
    results: readonly CallResult[],
    otherwise: { readonly text: string; readonly isError: boolean },
    news: readonly string[] = [],
  ): void {
    const { text, reasoning, calls } = response
    this.told.push(...news)
    const tools = calls.map(({ id, name }, index): Message => {
      const result = results.find(({ callId }) => callId === id) ?? otherwise
      const riding = index === calls.length - 1 ? news : []
      const said = [result.text, ...riding].join('\n\n')
      return { role: 'tool', callId: id, name, text: said, isError: result.isError }
    })
    this.messages = [...this.messages, { role: 'assistant', text, reasoning, calls }, ...tools]
  }
}
