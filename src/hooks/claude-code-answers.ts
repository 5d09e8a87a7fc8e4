import type { JsonObject } from '../core/json.js'
import type { ClaudeCodeEvent } from './claude-code.js'

const REASON_CHARS_MAX = 9000

/**
 * Whether a tool may run. Always explicit: the harness runs the tool when an answer is empty, has another status than 200, or says
 * its decision elsewhere.
 */
export function buildDecision(permission: 'allow' | 'deny', reason: string): JsonObject {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: permission,
      permissionDecisionReason: shortenText(reason),
    },
  }
}

/** The answer to a call that is over: what the agent has to be told, and what its user should know. */
export function buildAfterAnswer(
  event: ClaudeCodeEvent,
  said: { readonly interrupt: string | null; readonly note: string | null },
): JsonObject {
  return {
    ...(said.interrupt === null
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: shortenText(said.interrupt) } }),
    ...(said.note === null ? {} : { systemMessage: shortenText(said.note) }),
  }
}

// Longer texts the harness puts into a file instead of before the model.
function shortenText(text: string): string {
  return text.length <= REASON_CHARS_MAX ? text : `${text.slice(0, REASON_CHARS_MAX - 1).toWellFormed()}…`
}
