import type { ChatEnd, ChatPart, Reasoning, ToolCall, Usage } from '../participant.js'
import { makeFailure } from './failures.js'

/** One whole answer. */
export interface Response {
  readonly text: string
  readonly reasoning: readonly Reasoning[]
  readonly calls: readonly ToolCall[]
  readonly usage: Usage
  readonly end: ChatEnd
  /** Of text and reasoning. */
  readonly chars: number
}

const CALLS_MAX = 256
const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** Reads a stream to its end, or to `charsMax`. A failed answer has no calls. */
export async function readResponse(
  stream: AsyncIterable<ChatPart>,
  charsMax: number,
  watch: (part: ChatPart) => void = () => undefined,
): Promise<Response> {
  const texts: string[] = []
  const reasoning: Reasoning[] = []
  const calls: ToolCall[] = []
  let usage = NO_USAGE
  let chars = 0
  const ended = (end: ChatEnd): Response => {
    const kept = end.reason === 'failed' ? [] : calls
    return { text: texts.join(''), reasoning: joinThoughts(reasoning), calls: kept, usage, end, chars }
  }
  for await (const part of stream) {
    watch(part)
    if (part.type === 'text') texts.push(part.text)
    if (part.type === 'reasoning') reasoning.push(part)
    if (part.type === 'text' || part.type === 'reasoning') chars += part.text.length
    if (part.type === 'tool_call') calls.push({ id: part.id, name: part.name, arguments: part.arguments })
    if (part.type === 'usage') usage = part
    if (part.type === 'end') return ended(part)
    if (chars > charsMax || calls.length > CALLS_MAX) return ended(makeFailedEnd('too_large'))
  }
  return ended(makeFailedEnd('disconnected'))
}

function makeFailedEnd(code: 'too_large' | 'disconnected'): ChatEnd {
  return { type: 'end', reason: 'failed', failure: makeFailure(code) }
}

/** Pieces of a thought up to its signature are one thought. */
function joinThoughts(pieces: readonly Reasoning[]): readonly Reasoning[] {
  const thoughts: Reasoning[] = []
  let text = ''
  for (const piece of pieces) {
    text += piece.text
    if (piece.signature === undefined) continue
    thoughts.push({ text, signature: piece.signature })
    text = ''
  }
  return text === '' ? thoughts : [...thoughts, { text }]
}
