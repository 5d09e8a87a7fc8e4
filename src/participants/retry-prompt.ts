import type { Message, ToolCall } from './participant.js'

/** How much of its streamed text an agent gets back after a restart. */
const CAPTURED_CHARS_MAX = 120_000

/** Text streamed before a restart. Characters are code points, and none is ever split. */
export interface CapturedText {
  /** The first 120,000 characters. */
  readonly text: string
  /** The total number of characters. */
  readonly chars: number
}

export function capture(streamed: string): CapturedText {
  return captureFirst(streamed, CAPTURED_CHARS_MAX)
}

/**
 * The conversation of a restart: as before the turn, with the reason for the restart and what the agent had written.
 */
export function retryMessages(
  before: readonly Message[],
  message: string,
  made: { readonly buffer: CapturedText; readonly calls: readonly ToolCall[] },
): readonly Message[] {
  const text = [message, ...buildBlocks(made.buffer, made.calls)].join('\n\n')
  const last = before.at(-1)
  // Some models do not accept two consecutive user messages.
  if (last?.role === 'user') return [...before.slice(0, -1), { role: 'user', text: `${last.text}\n\n${text}` }]
  return [...before, { role: 'user', text }]
}

function buildBlocks(buffer: CapturedText, calls: readonly ToolCall[]): readonly string[] {
  const blocks: string[] = []
  if (buffer.chars > 0) {
    const size = buffer.chars > CAPTURED_CHARS_MAX ? `, cut: the first ${CAPTURED_CHARS_MAX} of ${buffer.chars}` : ''
    const unit = size === '' ? ` (${buffer.chars} characters)` : `${size} characters`
    blocks.push(`What you had written before this restart${unit}:\n${buffer.text}`)
  }
  let room = CAPTURED_CHARS_MAX - Math.min(buffer.chars, CAPTURED_CHARS_MAX)
  for (const call of calls) {
    const { text, chars } = captureFirst(JSON.stringify(call.arguments), room)
    const cut = chars > room ? `, cut: the first ${room} of ${chars} characters` : ''
    blocks.push(`You had called ${call.name}, without effect${cut}:\n${text}`)
    room = Math.max(0, room - chars)
  }
  return blocks
}

function captureFirst(raw: string, max: number): CapturedText {
  const whole = raw.toWellFormed()
  let chars = 0
  let end = whole.length
  for (let at = 0; at < whole.length; at += 1) {
    if (chars === max && end === whole.length) end = at
    // In well-formed text the second half of a pair always follows the first.
    if (isFirstHalf(whole.charCodeAt(at))) at += 1
    chars += 1
  }
  return { text: whole.slice(0, end), chars }
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
