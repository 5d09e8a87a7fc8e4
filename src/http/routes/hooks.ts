import { CLAUDE_CODE_EVENTS, CLAUDE_CODE_HOOKS } from '../../hooks/claude-code.js'
import { CODEX_EVENTS, CODEX_HOOKS } from '../../hooks/codex.js'
import { COPILOT_EVENTS, COPILOT_HOOKS } from '../../hooks/copilot.js'
import { CURSOR_EVENTS, CURSOR_HOOKS } from '../../hooks/cursor.js'
import { GEMINI_EVENTS, GEMINI_HOOKS } from '../../hooks/gemini.js'
import { OPENCODE_EVENTS, OPENCODE_HOOKS } from '../../hooks/opencode.js'
import {
  CODEX_HOOK_ANSWER,
  COPILOT_HOOK_ANSWER,
  CURSOR_HOOK_ANSWER,
  GEMINI_HOOK_ANSWER,
  HOOK_ANSWER,
  OPENCODE_HOOK_ANSWER,
} from '../answers/hook-answers.js'
import { makeHookRoute } from '../hooks/hook-route.js'
import type { Route } from '../route.js'

const eventField = 'hook_event_name'

/** Calls of agent CLIs whose own tools do the work. */
export const HOOK_ROUTES: readonly Route[] = [
  makeHookRoute(CLAUDE_CODE_HOOKS, {
    ...{ id: 'hookClaudeCode', eventField, events: CLAUDE_CODE_EVENTS, response: HOOK_ANSWER },
    summary: 'A hook of Claude Code: decides a call before it is made, counts it afterwards, and leads the session',
    answer:
      'In the format of the agent CLI: `{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason}}` before a call, `{hookSpecificOutput?: {hookEventName, additionalContext}, systemMessage?}` after one and where the model is told something, `{decision: "block", reason}` where something must not happen, `{continue: true}` where nothing is in the way',
  }),
  makeHookRoute(CODEX_HOOKS, {
    ...{ id: 'hookCodex', eventField, events: CODEX_EVENTS, response: CODEX_HOOK_ANSWER },
    summary: 'A hook of Codex: decides a call before it is made, counts it afterwards, and leads the session',
    answer:
      'In the format of the agent CLI: `{}` lets the tool run, `{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason}}` does not; the rest as for Claude Code',
  }),
  makeHookRoute(GEMINI_HOOKS, {
    ...{ id: 'hookGemini', eventField, events: GEMINI_EVENTS, response: GEMINI_HOOK_ANSWER },
    summary: 'A hook of Gemini CLI: decides a call before it is made, counts it afterwards, and leads the session',
    answer:
      'In the format of the agent CLI: `{decision: "allow" | "deny", reason}`, with `{hookSpecificOutput: {hookEventName, additionalContext}, systemMessage?}` where the model is told something',
  }),
  makeHookRoute(CURSOR_HOOKS, {
    ...{ id: 'hookCursor', eventField, events: CURSOR_EVENTS, response: CURSOR_HOOK_ANSWER },
    summary: 'A hook of Cursor: decides a call before it is made, counts it afterwards, and leads the session',
    answer:
      'In the format of the agent CLI: `{permission: "allow" | "deny", decision, reason, user_message?, agent_message?}` before a call, `{additional_context}` where the model is told something, `{continue}` for a prompt, `{followup_message}` at the end of a turn',
  }),
  makeHookRoute(COPILOT_HOOKS, {
    ...{ id: 'hookCopilot', eventField, events: COPILOT_EVENTS, response: COPILOT_HOOK_ANSWER },
    summary: 'A hook of Copilot CLI: decides a call before it is made, counts it afterwards, and leads the session',
    answer:
      'In the format of the agent CLI: `{permissionDecision: "allow" | "deny", permissionDecisionReason}` before a call, `{additionalContext}` where the model is told something, `{decision: "block", reason}` at the end of a turn',
  }),
  makeHookRoute(OPENCODE_HOOKS, {
    ...{ id: 'hookOpencode', eventField, events: OPENCODE_EVENTS, response: OPENCODE_HOOK_ANSWER },
    summary: 'A call of the plugin for OpenCode: decides a call before it is made and counts it afterwards',
    answer: '`{decision: "allow" | "deny", reason?, context?, note?}`: the plugin lets the tool run at `allow` only',
  }),
]
