import type { ChatPart, EndReason, ToolCall, Usage } from '../participant.js'
import type { AnswerLimits } from './answer-limits.js'
import { type ChatFailure, type FailureCode, makeFailure } from './failures.js'
import type { ChatModel } from './model-prompt.js'
import { parseArguments } from './parse-arguments.js'

type Stream = Awaited<ReturnType<ChatModel['doStream']>>['stream']
type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never
type Finish = Extract<StreamPart, { type: 'finish' }>

/** The meaning of a failure in the stream is known where the connection is. */
export interface StreamJudge {
  /** The stream broke off; `error` is the library's. */
  broke(error: unknown): ChatFailure
  ended(): ChatFailure
}

const NAME_CHARS_MAX = 200
const CALL_ID = /^[A-Za-z0-9_-]{1,128}$/

/**
 * The answer of a model, part by part. Calls come last and only when the answer is complete: half an answer has none.
 */
export async function* readStream(
  stream: Stream,
  limits: AnswerLimits,
  judge: StreamJudge,
  usedIds: ReadonlySet<string>,
): AsyncGenerator<ChatPart, void, undefined> {
  const reader = stream.getReader()
  const answer = new Answer(limits, usedIds)
  try {
    while (true) {
      const next = await nextPart(reader, judge)
      if (next.type === 'failed') return yield makeFailedPart(next.failure)
      const problem = answer.add(next.part)
      if (problem !== null) return yield makeFailedPart(makeFailure(problem))
      if (next.part.type === 'text-delta') yield { type: 'text', text: next.part.delta }
      if (next.part.type === 'reasoning-delta') yield toReasoning(next.part)
      if (next.part.type === 'finish') return yield* answer.finish(next.part, judge)
    }
  } finally {
    // The owner closes the connection; the library's remaining data and errors are ignored.
    reader.cancel().catch(() => undefined)
  }
}

type NextPart = { readonly type: 'part'; readonly part: StreamPart } | { readonly type: 'failed'; failure: ChatFailure }

async function nextPart(reader: ReadableStreamDefaultReader<StreamPart>, judge: StreamJudge): Promise<NextPart> {
  try {
    const { done, value } = await reader.read()
    if (done) return { type: 'failed', failure: judge.ended() }
    if (value.type === 'error') return { type: 'failed', failure: judge.broke(value.error) }
    if (value.type === 'finish' && value.finishReason.unified === 'error')
      return { type: 'failed', failure: judge.ended() }
    return { type: 'part', part: value }
  } catch (error) {
    return { type: 'failed', failure: judge.broke(error) }
  }
}

/** The answer so far, within its limits. */
class Answer {
  private readonly calls: ToolCall[] = []
  /** Calls in progress, with the size of their arguments; complete ones are removed. */
  private readonly begun = new Map<string, number>()
  private textChars = 0
  private readonly limits: AnswerLimits
  private readonly usedIds: Set<string>

  constructor(limits: AnswerLimits, usedIds: ReadonlySet<string>) {
    this.limits = limits
    this.usedIds = new Set(usedIds)
  }

  add(part: StreamPart): FailureCode | null {
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      this.textChars += part.delta.length
      return this.textChars > this.limits.textCharsMax ? 'too_large' : null
    }
    if (part.type === 'tool-input-start' || part.type === 'tool-input-delta') {
      const delta = part.type === 'tool-input-delta' ? part.delta.length : 0
      const chars = (this.begun.get(part.id) ?? 0) + delta
      this.begun.set(part.id, chars)
      return chars > this.limits.argumentsCharsMax || this.begun.size > this.limits.callsMax ? 'too_large' : null
    }
    if (part.type !== 'tool-call') return null
    this.begun.delete(part.toolCallId)
    // Nobody here offered a tool that the server ran itself.
    if (part.providerExecuted === true) return null
    if (part.input.length > this.limits.argumentsCharsMax || this.calls.length >= this.limits.callsMax)
      return 'too_large'
    const name = part.toolName.slice(0, NAME_CHARS_MAX)
    this.calls.push({ id: this.assignId(part.toolCallId), name, arguments: parseArguments(part.input) })
    return null
  }

  *finish(part: Finish, judge: StreamJudge): Generator<ChatPart, void, undefined> {
    if (this.begun.size > 0) return yield makeFailedPart(judge.broke(new Error('a call was not completed')))
    for (const call of this.calls) yield { type: 'tool_call', ...call }
    yield { type: 'usage', ...toUsage(part) }
    yield { type: 'end', reason: this.calls.length > 0 ? 'tool_calls' : toEndReason(part.finishReason.unified) }
  }

  /** Models repeat ids and invent invalid ones; results could not be matched, and servers would refuse them. */
  private assignId(given: string): string {
    let id = given
    for (let number = this.usedIds.size + 1; this.usedIds.has(id) || !CALL_ID.test(id); number += 1)
      id = `call-${number}`
    this.usedIds.add(id)
    return id
  }
}

function makeFailedPart(failure: ChatFailure): ChatPart {
  return { type: 'end', reason: 'failed', failure }
}

function toReasoning(part: Extract<StreamPart, { type: 'reasoning-delta' }>): ChatPart {
  const signature = part.providerMetadata?.anthropic?.signature
  const reasoning = { type: 'reasoning' as const, text: part.delta }
  return typeof signature === 'string' ? { ...reasoning, signature } : reasoning
}

function toUsage({ usage }: Finish): Usage {
  const { noCache, total, cacheRead, cacheWrite } = usage.inputTokens
  const read = countOf(cacheRead)
  const written = countOf(cacheWrite)
  const input = noCache === undefined ? countOf(total) - read - written : countOf(noCache)
  return { input: Math.max(0, input), output: countOf(usage.outputTokens.total), cacheRead: read, cacheWrite: written }
}

function countOf(value: number | undefined): number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

function toEndReason(unified: Finish['finishReason']['unified']): EndReason {
  if (unified === 'stop' || unified === 'length') return unified
  if (unified === 'content-filter') return 'filtered'
  return 'other'
}
