import type { JsonObject } from '../core/json.js'
import { findOriginProblem, findToolProblem, formatOtherEvent, readText, readWord } from './hook-fields.js'
import type { HookMessage, HookRead } from './hook-message.js'

type Kind = HookMessage['kind']

/** The events of an agent CLI that are handled, with what they are about. Every other one is refused by name. */
export interface HookEvents {
  readonly kinds: Readonly<Record<string, Kind>>
  /** Whether a call that was made succeeded. */
  isSuccess(event: string, body: JsonObject): boolean
}

/**
 * Reads the body of a hook with the field names of Claude Code. Unknown fields are ignored; an invalid known one is a
 * refusal.
 */
export function readHook({ kinds, isSuccess }: HookEvents, body: JsonObject): HookRead {
  const { hook_event_name: event } = body
  const kind = typeof event === 'string' && Object.hasOwn(kinds, event) ? kinds[event] : undefined
  if (kind === undefined || typeof event !== 'string')
    return { ok: false, detail: formatOtherEvent('hook_event_name', event, Object.keys(kinds)) }
  const isAboutTool = kind === 'before_tool' || kind === 'after_tool'
  const problem = (isAboutTool ? findToolProblem(body) : null) ?? findOriginProblem(body)
  if (problem !== null) return { ok: false, detail: problem }
  return { ok: true, hook: toMessage(kind, { event, body, success: isAboutTool && isSuccess(event, body) }) }
}

function toMessage(
  kind: Kind,
  { event, body, success }: { readonly event: string; readonly body: JsonObject; readonly success: boolean },
): HookMessage {
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
        success,
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
