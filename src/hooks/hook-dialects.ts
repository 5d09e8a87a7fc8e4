import { CLAUDE_CODE_HOOKS } from './claude-code.js'
import { CODEX_HOOKS } from './codex.js'
import { COPILOT_HOOKS } from './copilot.js'
import { CURSOR_HOOKS } from './cursor.js'
import { GEMINI_HOOKS } from './gemini.js'
import type { HookDialect } from './hook-message.js'
import { OPENCODE_HOOKS } from './opencode.js'

/** Every agent CLI whose hooks have an endpoint. */
export const HOOK_DIALECTS: readonly HookDialect[] = [
  ...[CLAUDE_CODE_HOOKS, CODEX_HOOKS, GEMINI_HOOKS, CURSOR_HOOKS, COPILOT_HOOKS, OPENCODE_HOOKS],
]
