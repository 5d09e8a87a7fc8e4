import type { JsonObject } from '../core/json.js'
import { CLAUDE_CODE_ANSWERS } from './claude-code-answers.js'
import { toFact } from './claude-code-facts.js'
import { toContractCalls } from './claude-code-tools.js'
import type { HookDialect, HookMessage, HookRead } from './hook-message.js'
import { readHook } from './read-hook.js'

/** The supported events. Every other one is refused by name. */
const KINDS: Readonly<Record<string, HookMessage['kind']>> = {
  PreToolUse: 'before_tool',
  PostToolUse: 'after_tool',
  PostToolUseFailure: 'after_tool',
  UserPromptSubmit: 'prompt',
  SessionStart: 'session_start',
  SubagentStart: 'subagent_start',
  Stop: 'stop',
  SubagentStop: 'subagent_stop',
  SessionEnd: 'session_end',
  ConfigChange: 'config_change',
  PreCompact: 'before_compact',
}
export const CLAUDE_CODE_EVENTS: readonly string[] = Object.keys(KINDS)

/** Reads the body of a hook. Unknown fields are ignored; an invalid known one is a refusal. */
export function readClaudeCodeHook(body: JsonObject): HookRead {
  return readHook({ kinds: KINDS, isSuccess: (event) => event === 'PostToolUse' }, body)
}

/** The hooks of Claude Code. */
export const CLAUDE_CODE_HOOKS: HookDialect = {
  agentCli: 'claude-code',
  title: 'Claude Code',
  read: readClaudeCodeHook,
  translate: toContractCalls,
  describe: toFact,
  answers: CLAUDE_CODE_ANSWERS,
}
