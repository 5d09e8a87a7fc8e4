import { CLAUDE_CODE_EVENTS, CLAUDE_CODE_HOOKS } from '../../hooks/claude-code.js'
import { HOOK_ANSWER } from '../answers/call-answers.js'
import { makeHookRoute } from '../hooks/hook-route.js'
import type { Route } from '../route.js'

/** Calls of agent CLIs whose own tools do the work. */
export const HOOK_ROUTES: readonly Route[] = [
  makeHookRoute(CLAUDE_CODE_HOOKS, {
    id: 'hookClaudeCode',
    summary: 'A hook of Claude Code: decides a call before it is made, counts it afterwards, and leads the session',
    eventField: 'hook_event_name',
    events: CLAUDE_CODE_EVENTS,
    answer:
      'In the format of the agent CLI: `{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason}}` before a call, `{hookSpecificOutput?: {hookEventName, additionalContext}, systemMessage?}` after one and where the model is told something, `{decision: "block", reason}` where something must not happen, `{continue: true}` where nothing is in the way',
    response: HOOK_ANSWER,
  }),
]
