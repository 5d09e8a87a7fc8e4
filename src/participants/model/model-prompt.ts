import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible'
import { isObject, type Json, type JsonObject } from '../../core/json.js'
import type { Message, Reasoning, ToolSpec } from '../participant.js'

export type ChatModel = ReturnType<OpenAICompatibleProvider['chatModel']>
type ChatRequest = Parameters<ChatModel['doStream']>[0]
type PromptMessage = ChatRequest['prompt'][number]
type AssistantPart = Extract<PromptMessage, { role: 'assistant' }>['content'][number]
type ToolMessage = Extract<PromptMessage, { role: 'tool' }>
type RequestTool = NonNullable<ChatRequest['tools']>[number]
type RequestInput = Extract<RequestTool, { type: 'function' }>['inputSchema']

const WIRE_NAME_CHARS_MAX = 64

/** The conversation in the format of the client library. */
export function toPrompt(messages: readonly Message[]): PromptMessage[] {
  return messages.map(promptMessageOf)
}

export function requestToolsOf(tools: readonly ToolSpec[]): RequestTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: parameters as RequestInput,
  }))
}

function promptMessageOf(message: Message): PromptMessage {
  if (message.role === 'system') return { role: 'system', content: message.text.toWellFormed() }
  if (message.role === 'user') {
    return { role: 'user', content: [{ type: 'text', text: message.text.toWellFormed() }] }
  }
  if (message.role === 'tool') return toToolMessage(message)
  const parts: AssistantPart[] = message.reasoning.map(toReasoningPart)
  if (message.text !== '') parts.push({ type: 'text', text: message.text.toWellFormed() })
  for (const call of message.calls) {
    const { id, name } = call
    parts.push({ type: 'tool-call', toolCallId: id, toolName: toWireName(name), input: toWireInput(call.arguments) })
  }
  return { role: 'assistant', content: parts }
}

function toToolMessage(message: Extract<Message, { role: 'tool' }>): ToolMessage {
  const value = message.text.toWellFormed()
  const output = message.isError ? { type: 'error-text' as const, value } : { type: 'text' as const, value }
  const toolName = toWireName(message.name)
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId: message.callId, toolName, output }] }
}

function toReasoningPart({ text, signature }: Reasoning): AssistantPart {
  const part = { type: 'reasoning' as const, text: text.toWellFormed() }
  return signature === undefined ? part : { ...part, providerOptions: { anthropic: { signature } } }
}

/** Servers refuse a whole conversation because of one call with an invalid name, even if the model made it up. */
function toWireName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, WIRE_NAME_CHARS_MAX) || 'unnamed'
}

function toWireInput(value: Json): JsonObject {
  if (isObject(value)) return value
  return { unparsed: typeof value === 'string' ? value : JSON.stringify(value) }
}
