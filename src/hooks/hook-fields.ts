import { isObject, type Json, type JsonObject } from '../core/json.js'

const NAME_CHARS_MAX = 200
const PATH_CHARS_MAX = 4096
const EVENT_CHARS_SHOWN = 60
const WORD_CHARS_MAX = 200
// Ids are used in file names and in the ledger; those of agent CLIs have letters, digits, `_` and `-`.
const ID = /^[A-Za-z0-9_.:-]{1,200}$/
const AGENT_ID = /^[A-Za-z0-9_-]{1,64}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be in a name
const CONTROL = /[\u0000-\u001f\u007f]/

/** What is wrong with the fields that every hook has; null: nothing. */
export function findOriginProblem({ cwd, transcript_path, session_id, agent_id }: JsonObject): string | null {
  if (typeof cwd !== 'string' || !isAbsolutePath(cwd)) return 'cwd: must be an absolute path'
  if (!isAbsent(transcript_path) && typeof transcript_path !== 'string') return 'transcript_path: must be a path'
  if (!isAbsent(session_id) && !isId(session_id))
    return 'session_id: must be 1 to 200 of letters, digits, "_", ".", ":" and "-"'
  if (!isAbsent(agent_id) && !(typeof agent_id === 'string' && AGENT_ID.test(agent_id)))
    return 'agent_id: must be 1 to 64 of letters, digits, "_" and "-"'
  return null
}

/** What is wrong with the fields of a hook about a tool call; null: nothing. */
export function findToolProblem({ tool_name, tool_input, tool_use_id, duration_ms }: JsonObject): string | null {
  if (typeof tool_name !== 'string' || tool_name === '' || tool_name.length > NAME_CHARS_MAX || CONTROL.test(tool_name))
    return `tool_name: must be 1 to ${NAME_CHARS_MAX} characters without control characters`
  if (!isObject(tool_input)) return 'tool_input: must be an object'
  if (!isAbsent(tool_use_id) && !isId(tool_use_id))
    return 'tool_use_id: must be 1 to 200 of letters, digits, "_", ".", ":" and "-"'
  if (!isAbsent(duration_ms) && !(typeof duration_ms === 'number' && Number.isFinite(duration_ms) && duration_ms >= 0))
    return 'duration_ms: must be a number, 0 or more'
  return null
}

/** The refusal of an event that is not handled, by its name. */
export function formatOtherEvent(field: string, event: Json | undefined, known: readonly string[]): string {
  return typeof event === 'string'
    ? `${field}: this version does not handle ${JSON.stringify(event.slice(0, EVENT_CHARS_SHOWN))}; it handles ${known.join(', ')}`
    : `${field}: must be one of ${known.join(', ')}`
}

/** A word of the agent CLI for the ledger, cut and without control characters. */
export function readWord(value: Json | undefined): string {
  return typeof value === 'string' ? value.slice(0, WORD_CHARS_MAX).replace(new RegExp(CONTROL, 'g'), ' ') : ''
}

export function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null
}

export function readText(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function isId(value: Json | undefined): boolean {
  return typeof value === 'string' && ID.test(value)
}

function isAbsolutePath(path: string): boolean {
  return path.startsWith('/') && path.length <= PATH_CHARS_MAX && !path.includes('\0')
}
