import type { ChatPart, Message, Participant, ToolSpec } from '../participant.js'
import type { AnswerLimits } from './answer-limits.js'
import { type ChatFailure, type FailureCode, makeFailure } from './failures.js'
import { type ChatModel, requestToolsOf, toPrompt } from './model-prompt.js'
import { readStream, type StreamJudge } from './read-stream.js'
import { redact } from './redact.js'
import { type RetryLimits, waitBeforeRetry, waitUnlessAborted } from './retry.js'
import { findErrorMessage, Wire, type WireLimits } from './wire.js'

export type Provider = 'openai-compatible' | 'anthropic'

export interface ModelLimits extends WireLimits, AnswerLimits, RetryLimits {
  /** Time limit of one answer with all its attempts. */
  readonly totalMs: number
}

interface ModelOptions {
  readonly id: string
  readonly provider: Provider
  readonly baseUrl: string
  readonly model: string
  /** Null if the server needs none. */
  readonly apiKey: string | null
  readonly maxOutputTokens?: number
  /** False for models that cannot handle a tool error. */
  readonly takesToolErrors?: boolean
  readonly limits?: Partial<ModelLimits>
  /** Between 0 and 1, for the spread of back-offs. */
  readonly chance?: () => number
}

const MODEL_LIMITS: ModelLimits = {
  firstByteMs: 180_000,
  silenceMs: 120_000,
  totalMs: 600_000,
  wireBytesMax: 64 * 1024 * 1024,
  lineBytesMax: 4 * 1024 * 1024,
  textCharsMax: 1_000_000,
  argumentsCharsMax: 512 * 1024,
  callsMax: 64,
  attemptsMax: 4,
  backoffMs: 1_000,
  retryAfterMsMax: 60_000,
}

/** A chat model behind an OpenAI-compatible or Anthropic endpoint, streamed. */
export function makeModelParticipant(options: ModelOptions): Participant {
  const limits = { ...MODEL_LIMITS, ...options.limits }
  return {
    id: options.id,
    takesToolErrors: options.takesToolErrors ?? true,
    chat: (messages, tools, signal) => streamChat({ options, limits, messages, tools, signal }),
  }
}

interface Chat {
  readonly options: ModelOptions
  readonly limits: ModelLimits
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  readonly signal: AbortSignal
}

async function* streamChat(chat: Chat): AsyncGenerator<ChatPart, void, undefined> {
  const { limits, signal } = chat
  const deadline = Date.now() + limits.totalMs
  for (let attempts = 1; ; attempts += 1) {
    const wire = new Wire(limits, signal, Math.max(0, deadline - Date.now()))
    let wait: number | null
    try {
      const judge = judgeOf(wire, chat.options.apiKey, attempts)
      const opened = await open(chat, wire, judge)
      if ('stream' in opened) {
        yield* readStream(opened.stream, limits, judge, collectCallIds(chat.messages))
        return
      }
      const moment = { now: Date.now(), chance: (chat.options.chance ?? Math.random)() }
      wait = waitBeforeRetry(opened.failure, wire.refusal?.retryAfter ?? null, limits, moment)
      if (wait === null || moment.now + wait >= deadline) {
        yield { type: 'end', reason: 'failed', failure: opened.failure }
        return
      }
    } finally {
      wire.close()
    }
    if (await waitUnlessAborted(wait, signal)) continue
    yield { type: 'end', reason: 'failed', failure: makeFailure('aborted', { attempts }) }
    return
  }
}

type OpenedStream = Awaited<ReturnType<ChatModel['doStream']>> | { readonly failure: ChatFailure }

async function open(chat: Chat, wire: Wire, judge: StreamJudge): Promise<OpenedStream> {
  const { maxOutputTokens } = chat.options
  try {
    const model = await loadModel(chat.options, wire)
    return await model.doStream({
      prompt: toPrompt(chat.messages),
      tools: requestToolsOf(chat.tools),
      abortSignal: wire.signal,
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    })
  } catch (error) {
    return { failure: judge.broke(error) }
  }
}

/** The packages are loaded by the first chat, so that only users of models pay for them. */
async function loadModel(options: ModelOptions, wire: Wire): Promise<ChatModel> {
  const { baseUrl: baseURL, model } = options
  // An empty key is passed too: without one the packages look for their own in the environment.
  const apiKey = options.apiKey ?? ''
  if (options.provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ baseURL, apiKey, fetch: wire.fetch }).languageModel(model)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const settings = { name: 'openai-compatible', baseURL, apiKey, includeUsage: true, fetch: wire.fetch }
  return createOpenAICompatible(settings).chatModel(model)
}

function collectCallIds(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.flatMap((message) => (message.role === 'assistant' ? message.calls : [])).map(({ id }) => id))
}

/** The packages' errors contain the whole request, so only a redacted line of them is kept. */
function judgeOf(wire: Wire, apiKey: string | null, attempts: number): StreamJudge {
  const failure = (code: FailureCode, said = ''): ChatFailure =>
    makeFailure(code, { detail: redact(said, apiKey), status: wire.status, attempts })
  const known = (): ChatFailure | null => {
    if (wire.refusal !== null && wire.stopped !== 'aborted') return refusalOf(wire.refusal.status, wire.refusal.said)
    if (wire.stopped !== null) return failure(wire.stopped)
    return wire.wrongType === null ? null : failure('not_a_stream', wire.wrongType || 'it has no content type')
  }
  const refusalOf = (status: number, said: string): ChatFailure => {
    // Servers quote a rejected key, some of them in part.
    if (status === 401 || status === 403) return failure('unauthorized', `status ${status}`)
    if (status === 429) return failure('rate_limited', said)
    if (status >= 500) return failure('server_error', `status ${status} ${said}`)
    return status < 400 ? failure('redirected', `status ${status}`) : failure('request_rejected', said)
  }
  return {
    ended: () => known() ?? failure('disconnected'),
    broke: (error) => {
      const stop = known()
      if (stop !== null) return stop
      if (wire.status === null) return failure(...explainUnanswered(error))
      const said = findServerMessage(error)
      if (said !== null) return failure('server_error', said)
      return failure(isIncomplete(error, wire) ? 'disconnected' : 'broken_stream')
    },
  }
}

/** Node names the system's reason somewhere in the chain of causes; without one nothing was sent. */
function explainUnanswered(error: unknown): [FailureCode, string?] {
  let cause = error
  for (let depth = 0; depth < 5 && cause instanceof Error; depth += 1) {
    if ('code' in cause && typeof cause.code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(cause.code))
      return ['unreachable', cause.code]
    if (cause.message === 'fetch failed') return ['unreachable']
    cause = cause.cause
  }
  return ['client_fault']
}

/** The error that the server itself reported inside a stream; null when it is the library's. */
function findServerMessage(error: unknown): string | null {
  if (!(error instanceof Error)) return findErrorMessage(error)
  if (!('statusCode' in error && typeof error.statusCode === 'number' && error.statusCode >= 500)) return null
  const isOwn = 'responseBody' in error && /"name":"AI_/.test(String(error.responseBody))
  return isOwn ? null : error.message
}

function isIncomplete(error: unknown, wire: Wire): boolean {
  if (error instanceof Error && error.name === 'AI_InvalidResponseDataError') return wire.hasEnded
  return wire.hasBroken
}
