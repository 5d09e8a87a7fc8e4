import type { JsonObject } from '../core/json.js'
import type { ClaudeCodeEvent } from './claude-code.js'

const REASON_CHARS_MAX = 9000

/**
 * Whether a tool may run. Always explicit: Claude Code runs the tool when an answer is empty, has a status other than
 * 200, or contains its decision elsewhere.
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

/** The answer to a finished call: what the agent must be told, and what its user should know. */
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

// Claude Code writes longer texts to a file instead of showing them to the model.
function shortenText(text: string): string {
  return text.length <= REASON_CHARS_MAX ? text : `${text.slice(0, REASON_CHARS_MAX - 1).toWellFormed()}…`
}
