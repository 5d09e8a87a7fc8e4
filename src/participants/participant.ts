import type { Json, JsonObject } from '../core/json.js'
import type { ChatFailure } from './model/failures.js'

/** A participant of a council, of any kind. */
export interface Participant {
  readonly id: string
  /** Whether a refused call can be answered with a tool error; otherwise the turn starts again. */
  readonly takesToolErrors: boolean
  /** Streams one answer. Never throws: the last part is an `end`, which contains the failure, if any. */
  chat(messages: readonly Message[], tools: readonly ToolSpec[], signal: AbortSignal): AsyncIterable<ChatPart>
}

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** A JSON schema of the arguments. */
  readonly parameters: JsonObject
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** Parsed; the raw text when it does not parse. */
  readonly arguments: Json
}

/** The model's reasoning. Some servers accept the conversation only with it, and with its signature. */
export interface Reasoning {
  readonly text: string
  readonly signature?: string
}

/** System messages come first; the results of an answer's calls follow it directly. */
export type Message =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly reasoning: readonly Reasoning[]
      readonly calls: readonly ToolCall[]
    }
  | {
      readonly role: 'tool'
      readonly callId: string
      readonly name: string
      readonly text: string
      readonly isError: boolean
    }

export interface Usage {
  /** Without tokens that were read from or written to a cache. */
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** `stop`: finished; `tool_calls`: waits for results; `length`: cut off; `filtered`: its server withheld it. */
export type EndReason = 'stop' | 'tool_calls' | 'length' | 'filtered' | 'other'

export type ChatEnd =
  | { readonly type: 'end'; readonly reason: EndReason }
  | { readonly type: 'end'; readonly reason: 'failed'; readonly failure: ChatFailure }

export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly signature?: string }
  | ({ readonly type: 'tool_call' } & ToolCall)
  | ({ readonly type: 'usage' } & Usage)
  | ChatEnd
