import { isObject, type JsonObject } from '../core/json.js'
import { CLAUDE_CODE_ANSWERS } from './claude-code-answers.js'
import type { HookAnswers, HookDialect } from './hook-message.js'
import { readHook } from './read-hook.js'
import { describeByTable, renameRow, shellRow, type ToolTable, translateByTable } from './tool-table.js'

const KINDS = {
  PreToolUse: 'before_tool',
  PostToolUse: 'after_tool',
  UserPromptSubmit: 'prompt',
  SessionStart: 'session_start',
  SubagentStart: 'subagent_start',
  Stop: 'stop',
  SubagentStop: 'subagent_stop',
  SessionEnd: 'session_end',
  PreCompact: 'before_compact',
} as const
export const CODEX_EVENTS: readonly string[] = Object.keys(KINDS)

const TABLE: ToolTable = {
  agentCli: 'codex',
  bookkeeping: new Set(['update_plan', 'tool_search', 'list_mcp_resources', 'list_mcp_resource_templates']),
  rows: {
    Bash: shellRow({ cwd: 'workdir', drops: ['justification', 'timeout_ms', 'yield_time_ms', 'max_output_tokens'] }),
    apply_patch: renameRow('apply_patch', { input: 'command' }),
    view_image: renameRow('Read', { path: 'file_path' }, ['detail']),
    spawn_agent: renameRow('Task', {}),
    request_user_input: renameRow('AskUserQuestion', {}),
    web_search: renameRow('WebSearch', {}),
  },
}

// An empty object lets the tool run: Codex ignores "allow" and runs the tool after "ask". Only "deny" with a reason
// keeps it from running.
const ANSWERS: HookAnswers = {
  ...CLAUDE_CODE_ANSWERS,
  decide: (permission, reason) => (permission === 'allow' ? {} : CLAUDE_CODE_ANSWERS.decide('deny', reason)),
  pass: (note) => (note === null ? {} : { systemMessage: note }),
  refuse: (body, reason) => {
    const event = isObject(body) ? body.hook_event_name : null
    const isKnown = typeof event === 'string' && Object.hasOwn(KINDS, event)
    return isKnown ? toCodex(CLAUDE_CODE_ANSWERS.refuse(body, reason)) : CLAUDE_CODE_ANSWERS.decide('deny', reason)
  },
}

function toCodex({ continue: _goesOn, ...answer }: JsonObject): JsonObject {
  return answer
}

/** The hooks of Codex, which are close to those of Claude Code. */
export const CODEX_HOOKS: HookDialect = {
  agentCli: 'codex',
  title: 'Codex',
  read: (body) => readHook({ kinds: KINDS, isSuccess: () => true }, body),
  translate: (hook, tree) => translateByTable(TABLE, hook, tree),
  describe: (hook, tree) => describeByTable(TABLE, hook, tree),
  answers: ANSWERS,
}
