import { isObject, type JsonObject } from '../core/json.js'
import type { HookAnswers } from './hook-message.js'
import { shortenText } from './shorten-text.js'

/**
 * Always explicit: Claude Code runs the tool when an answer is empty, has a status other than 200, or contains its
 * decision elsewhere.
 */
export const CLAUDE_CODE_ANSWERS: HookAnswers = {
  decide: (permission, reason) => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: permission,
      permissionDecisionReason: shortenText(reason),
    },
  }),
  tellAfter: (event, { interrupt, note }) => ({
    ...(interrupt === null ? {} : addContext(event, interrupt)),
    ...(note === null ? {} : { systemMessage: shortenText(note) }),
  }),
  addContext,
  keepGoing: (_event, reason) => ({ decision: 'block', reason: shortenText(reason) }),
  pass: (note) => ({ continue: true, ...(note === null ? {} : { systemMessage: shortenText(note) }) }),
  block: (_event, reason) => ({ decision: 'block', reason: shortenText(reason) }),
  refuse,
}

function addContext(event: string, text: string): JsonObject {
  return { hookSpecificOutput: { hookEventName: event, additionalContext: shortenText(text) } }
}

/** Events after which the agent would go on if they were blocked: a refusal would be a loop. */
const ENDS: ReadonlySet<unknown> = new Set(['Stop', 'SubagentStop', 'SessionEnd'])
/** Events whose answers can only add text. */
const STARTS: ReadonlySet<unknown> = new Set(['SessionStart', 'SubagentStart'])

// Everything that may ask whether a tool may run gets a decision; a prompt or a change of settings is kept back.
function refuse(body: unknown, reason: string): JsonObject {
  const event = isObject(body) ? body.hook_event_name : undefined
  if (typeof event !== 'string' || event === 'PreToolUse') return CLAUDE_CODE_ANSWERS.decide('deny', reason)
  if (ENDS.has(event)) return CLAUDE_CODE_ANSWERS.pass(reason)
  if (STARTS.has(event)) return addContext(event, `Phaselock: ${reason}`)
  return CLAUDE_CODE_ANSWERS.block(event, reason)
}
