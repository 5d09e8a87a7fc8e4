import type { StoredEvent } from '../app/ledger/feed.js'
import type { Json, JsonObject } from '../core/json.js'

const ARGUMENTS_CHARS_MAX = 200
const BLOCKERS_SHOWN_MAX = 5

/** Whose log it is: an agent's, or that of a reviewer of its task. */
type LogOwner = { readonly agentId: string } | { readonly reviewer: string }

/**
 * What the agent asked Phaselock for and what came of it, as a line of its log; null for everything else. It is made
 * from the ledger and not from what the agent says: the same for every agent CLI, and a refused call is never shown as done.
 */
export function callLine({ type, data }: Pick<StoredEvent, 'type' | 'data'>, owner: LogOwner): string | null {
  if ('agentId' in owner && type === 'phase_entered') return `now in ${textOf(data.to)}`
  const isOwn = 'agentId' in owner ? data.agent_id === owner.agentId : data.reviewer === owner.reviewer
  if (!isOwn) return null
  const line = LINES.get(type)
  if (line !== undefined) return line(data)
  return data.success === false ? `${type}: ${refused(data)}` : null
}

const LINES: ReadonlyMap<string, (data: JsonObject) => string> = new Map(
  Object.entries({
    tool_allowed: (data: JsonObject) => `${callOf(data)}${data.execute === true ? '' : ': allowed'}`,
    tool_denied: (data: JsonObject) => `${callOf(data)}: ${refused(data)}`,
    tool_finished: (data: JsonObject) =>
      `${textOf(data.tool_name)}: ${data.success === true ? done(data) : failed(data)}`,
    changes_dropped: (data: JsonObject) => `${textOf(data.tool_name)}: ${refused(data)}`,
    transition_requested: ({ to }: JsonObject) => `transition to ${textOf(to)}`,
    transition_refused: (data: JsonObject) => `transition to ${textOf(data.to)}: ${refused(data)}`,
    gate_blocked: (data: JsonObject) =>
      `transition to ${textOf(data.to)}: blocked [${textOf(data.code)}] ${blockersIn(data)}`,
    question_asked: ({ question }: JsonObject) => `question: ${textOf(question)}`,
    review_submitted: ({ status }: JsonObject) => `review: ${textOf(status)}`,
    review_refused: (data: JsonObject) => `review: ${refused(data)}`,
    checkpoint_refused: (data: JsonObject) => `evidence: ${refused(data)}`,
  }),
)

function callOf({ tool_name: name, args }: JsonObject): string {
  const text = JSON.stringify(args ?? {})
  return `${textOf(name)} ${text.length > ARGUMENTS_CHARS_MAX ? `${text.slice(0, ARGUMENTS_CHARS_MAX)}…` : text}`
}

function done({ exit_code: exitCode, duration_ms: ms }: JsonObject): string {
  return `done${typeof exitCode === 'number' ? `, exit code ${exitCode}` : ''}, ${textOf(ms)} ms`
}

function failed({ code, detail }: JsonObject): string {
  return `failed [${textOf(code)}] ${textOf(detail)}`.trimEnd()
}

function refused({ code, detail }: JsonObject): string {
  return `refused [${textOf(code)}] ${textOf(detail)}`.trimEnd()
}

function blockersIn({ blockers }: JsonObject): string {
  const found = Array.isArray(blockers) ? (blockers as readonly JsonObject[]) : []
  const shown = found.slice(0, BLOCKERS_SHOWN_MAX).map(({ message }) => textOf(message))
  return [...shown, ...(found.length > shown.length ? [`${found.length - shown.length} more`] : [])].join('; ')
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).replaceAll('\n', ' ') : ''
}
