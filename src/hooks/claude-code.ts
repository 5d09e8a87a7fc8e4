import { isObject, type Json, type JsonObject } from '../core/json.js'

const NAME_CHARS_MAX = 200
const PATH_CHARS_MAX = 4096
const EVENT_CHARS_SHOWN = 60
// Ids are used in file names and in the ledger; those of Claude Code have letters, digits, `_` and `-`.
const ID = /^[A-Za-z0-9_.:-]{1,200}$/
const AGENT_ID = /^[A-Za-z0-9_-]{1,64}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be in a name
const CONTROL = /[\u0000-\u001f\u007f]/

/** The supported events. Every other one is refused by name. */
const CLAUDE_CODE_EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'] as const
export type ClaudeCodeEvent = (typeof CLAUDE_CODE_EVENTS)[number]

/** The content of a Claude Code hook about one tool call. */
export interface ClaudeCodeHook {
  readonly event: ClaudeCodeEvent
  readonly tool: string
  readonly input: JsonObject
  readonly response: Json
  readonly toolUseId: string | null
  /** The working directory: the base of relative paths. */
  readonly cwd: string
  readonly durationMs: number | null
  readonly transcript: string | null
  /** The subagent that made the call; null: the session itself. */
  readonly subagent: string | null
}

type HookRead = { readonly ok: true; readonly hook: ClaudeCodeHook } | { readonly ok: false; readonly detail: string }

/** Reads the body of a hook. Unknown fields are ignored; an invalid known one is a refusal. */
export function readClaudeCodeHook(body: JsonObject): HookRead {
  const event = CLAUDE_CODE_EVENTS.find((one) => one === body.hook_event_name)
  if (event === undefined) return makeRefused(formatOtherEvent(body.hook_event_name))
  const problem = findProblem(body)
  if (problem !== null) return makeRefused(problem)
  return {
    ok: true,
    hook: {
      event,
      tool: body.tool_name as string,
      input: body.tool_input as JsonObject,
      response: body.tool_response ?? null,
      toolUseId: (body.tool_use_id as string | null | undefined) ?? null,
      cwd: body.cwd as string,
      durationMs: (body.duration_ms as number | null | undefined) ?? null,
      transcript: (body.transcript_path as string | null | undefined) ?? null,
      subagent: (body.agent_id as string | null | undefined) ?? null,
    },
  }
}

/** Whether a refusal must be formatted as a decision: for everything that may ask whether a tool may run. */
export function needsDecision(body: unknown): boolean {
  const event = isObject(body) ? body.hook_event_name : undefined
  return typeof event !== 'string' || event === 'PreToolUse'
}

function findProblem(body: JsonObject): string | null {
  const { tool_name, tool_input, tool_use_id, cwd, duration_ms, transcript_path, agent_id } = body
  if (typeof tool_name !== 'string' || tool_name === '' || tool_name.length > NAME_CHARS_MAX || CONTROL.test(tool_name))
    return `tool_name: must be 1 to ${NAME_CHARS_MAX} characters without control characters`
  if (!isObject(tool_input)) return 'tool_input: must be an object'
  if (!isAbsent(tool_use_id) && !(typeof tool_use_id === 'string' && ID.test(tool_use_id)))
    return 'tool_use_id: must be 1 to 200 of letters, digits, "_", ".", ":" and "-"'
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) return 'cwd: must be an absolute path'
  if (!isAbsent(duration_ms) && !(typeof duration_ms === 'number' && Number.isFinite(duration_ms) && duration_ms >= 0))
    return 'duration_ms: must be a number, 0 or more'
  if (!isAbsent(transcript_path) && typeof transcript_path !== 'string') return 'transcript_path: must be a path'
  if (!isAbsent(agent_id) && !(typeof agent_id === 'string' && AGENT_ID.test(agent_id)))
    return 'agent_id: must be 1 to 64 of letters, digits, "_" and "-"'
  return null
}

function formatOtherEvent(event: Json | undefined): string {
  const known = CLAUDE_CODE_EVENTS.join(', ')
  return typeof event === 'string'
    ? `hook_event_name: this version does not handle ${JSON.stringify(event.slice(0, EVENT_CHARS_SHOWN))}; it handles ${known}`
    : `hook_event_name: must be one of ${known}`
}

function makeRefused(detail: string): HookRead {
  return { ok: false, detail }
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') && path.length <= PATH_CHARS_MAX && !path.includes('\0')
}
