import type { Message } from '../participant.js'

const HOW = 'Your tools come from the MCP server "phaselock". Only what you call there counts; what you write does not.'

/** A conversation as one text, for programs that take a prompt and nothing else. */
export function formatPrompt(messages: readonly Message[]): string {
  return [HOW, ...messages.map(formatMessage).filter((text) => text !== '')].join('\n\n').toWellFormed()
}

function formatMessage(message: Message): string {
  if (message.role === 'system' || message.role === 'user') return message.text
  if (message.role === 'tool') return `${message.isError ? 'Error' : 'Result'} of ${message.name}: ${message.text}`
  const calls = message.calls.map(({ name, arguments: args }) => `You called ${name} with ${JSON.stringify(args)}`)
  return [...(message.text === '' ? [] : [`You wrote: ${message.text}`]), ...calls].join('\n\n')
}

type ToolMessage = Extract<Message, { role: 'tool' }>

/** The results that a conversation ends with; empty when it ends otherwise. */
export function lastResults(messages: readonly Message[]): readonly ToolMessage[] {
  const from = messages.findLastIndex((message) => message.role !== 'tool') + 1
  return messages.slice(from).filter((message): message is ToolMessage => message.role === 'tool')
}
