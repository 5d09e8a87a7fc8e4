import type { JsonObject } from '../core/json.js'
import { CLAUDE_CODE_ANSWERS } from './claude-code-answers.js'
import { toFact } from './claude-code-facts.js'
import { toContractCalls } from './claude-code-tools.js'
import { findOriginProblem, findToolProblem, formatOtherEvent, readText, readWord } from './hook-fields.js'
import type { HookDialect, HookMessage, HookRead } from './hook-message.js'

type Kind = HookMessage['kind']

/** The supported events. Every other one is refused by name. */
const KINDS: Readonly<Record<string, Kind>> = {
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
  const { hook_event_name: event } = body
  const kind = typeof event === 'string' && Object.hasOwn(KINDS, event) ? KINDS[event] : undefined
  if (kind === undefined || typeof event !== 'string')
    return { ok: false, detail: formatOtherEvent('hook_event_name', event, CLAUDE_CODE_EVENTS) }
  const isAboutTool = kind === 'before_tool' || kind === 'after_tool'
  const problem = (isAboutTool ? findToolProblem(body) : null) ?? findOriginProblem(body)
  return problem === null ? { ok: true, hook: toMessage(kind, event, body) } : { ok: false, detail: problem }
}

function toMessage(kind: Kind, event: string, body: JsonObject): HookMessage {
  const origin = {
    event,
    session: readText(body.session_id),
    cwd: body.cwd as string,
    transcript: readText(body.transcript_path),
    subagent: readText(body.agent_id),
  }
  switch (kind) {
    case 'before_tool':
    case 'after_tool':
      return {
        ...origin,
        kind,
        tool: body.tool_name as string,
        input: body.tool_input as JsonObject,
        response: body.tool_response ?? null,
        toolUseId: readText(body.tool_use_id),
        durationMs: typeof body.duration_ms === 'number' ? body.duration_ms : null,
        success: event === 'PostToolUse',
      }
    case 'stop':
      return { ...origin, kind, isKept: body.stop_hook_active === true }
    case 'session_end':
      return { ...origin, kind, reason: readWord(body.reason) }
    case 'config_change':
      return { ...origin, kind, source: readWord(body.source), file: readText(body.file_path) }
    default:
      return { ...origin, kind }
  }
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
