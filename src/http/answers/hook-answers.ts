import { chooseWord, makeObject, nameObject, TEXT } from './schema-parts.js'

/** In the format of Claude Code. */
export const HOOK_ANSWER = nameObject('ClaudeCodeHookAnswer', {
  'hookSpecificOutput?': makeObject({
    hookEventName: TEXT,
    'permissionDecision?': chooseWord('allow', 'deny'),
    'permissionDecisionReason?': TEXT,
    'additionalContext?': TEXT,
  }),
  'systemMessage?': TEXT,
  'decision?': chooseWord('block'),
  'reason?': TEXT,
  'continue?': { type: 'boolean' },
})

const CONTEXT = makeObject({ hookEventName: TEXT, additionalContext: TEXT })
const DECISION = chooseWord('allow', 'deny')

/** In the format of Codex: only a refusal is said. */
export const CODEX_HOOK_ANSWER = nameObject('CodexHookAnswer', {
  'hookSpecificOutput?': makeObject({
    hookEventName: TEXT,
    'permissionDecision?': chooseWord('deny'),
    'permissionDecisionReason?': TEXT,
    'additionalContext?': TEXT,
  }),
  'systemMessage?': TEXT,
  'decision?': chooseWord('block'),
  'reason?': TEXT,
})

/** In the format of Gemini CLI. */
export const GEMINI_HOOK_ANSWER = nameObject('GeminiHookAnswer', {
  'decision?': DECISION,
  'reason?': TEXT,
  'hookSpecificOutput?': CONTEXT,
  'systemMessage?': TEXT,
})

/** In the format of Cursor. */
export const CURSOR_HOOK_ANSWER = nameObject('CursorHookAnswer', {
  'permission?': DECISION,
  'decision?': DECISION,
  'reason?': TEXT,
  'user_message?': TEXT,
  'agent_message?': TEXT,
  'additional_context?': TEXT,
  'followup_message?': TEXT,
  'continue?': { type: 'boolean' },
})

/** In the format of Copilot CLI. */
export const COPILOT_HOOK_ANSWER = nameObject('CopilotHookAnswer', {
  'permissionDecision?': DECISION,
  'permissionDecisionReason?': TEXT,
  'additionalContext?': TEXT,
  'decision?': chooseWord('block'),
  'reason?': TEXT,
})

/** As the plugin for OpenCode reads it. */
export const OPENCODE_HOOK_ANSWER = nameObject('OpencodeHookAnswer', {
  decision: DECISION,
  'reason?': TEXT,
  'context?': TEXT,
  'note?': TEXT,
})
