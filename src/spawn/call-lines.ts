import type { StoredEvent } from '../app/ledger/feed.js'
import type { Json, JsonObject } from '../core/json.js'

const ARGUMENTS_CHARS_MAX = 200
const BLOCKERS_SHOWN_MAX = 5

/** Whose log it is: an agent's, or that of a reviewer of its task. */
type LogOwner = { readonly agentId: string } | { readonly reviewer: string }

/**
 * An agent's call and its result as a line of its log; null for other events. Made from the ledger, not from the
 * agent's words: the same for every agent CLI, and a refused call is never shown as done.
 */
export function formatCallLine({ type, data }: Pick<StoredEvent, 'type' | 'data'>, owner: LogOwner): string | null {
  if ('agentId' in owner && type === 'phase_entered') return `now in ${toText(data.to)}`
  const isOwn = 'agentId' in owner ? data.agent_id === owner.agentId : data.reviewer === owner.reviewer
  if (!isOwn) return null
  const line = LINES.get(type)
  if (line !== undefined) return line(data)
  return data.success === false ? `${type}: ${formatRefused(data)}` : null
}

const LINES: ReadonlyMap<string, (data: JsonObject) => string> = new Map(
  Object.entries({
    tool_allowed: (data: JsonObject) => `${formatCall(data)}${data.execute === true ? '' : ': allowed'}`,
    tool_denied: (data: JsonObject) => `${formatCall(data)}: ${formatRefused(data)}`,
    tool_finished: (data: JsonObject) =>
      `${toText(data.tool_name)}: ${data.success === true ? formatDone(data) : formatFailed(data)}`,
    changes_dropped: (data: JsonObject) => `${toText(data.tool_name)}: ${formatRefused(data)}`,
    transition_requested: ({ to }: JsonObject) => `transition to ${toText(to)}`,
    transition_refused: (data: JsonObject) => `transition to ${toText(data.to)}: ${formatRefused(data)}`,
    gate_blocked: (data: JsonObject) =>
      `transition to ${toText(data.to)}: blocked [${toText(data.code)}] ${formatBlockers(data)}`,
    question_asked: ({ question }: JsonObject) => `question: ${toText(question)}`,
    review_submitted: ({ status }: JsonObject) => `review: ${toText(status)}`,
    review_refused: (data: JsonObject) => `review: ${formatRefused(data)}`,
    checkpoint_refused: (data: JsonObject) => `evidence: ${formatRefused(data)}`,
  }),
)

function formatCall({ tool_name: name, args }: JsonObject): string {
  const text = JSON.stringify(args ?? {})
  return `${toText(name)} ${text.length > ARGUMENTS_CHARS_MAX ? `${text.slice(0, ARGUMENTS_CHARS_MAX)}…` : text}`
}

function formatDone({ exit_code: exitCode, duration_ms: ms }: JsonObject): string {
  return `done${typeof exitCode === 'number' ? `, exit code ${exitCode}` : ''}, ${toText(ms)} ms`
}

function formatFailed({ code, detail }: JsonObject): string {
  return `failed [${toText(code)}] ${toText(detail)}`.trimEnd()
}

function formatRefused({ code, detail }: JsonObject): string {
  return `refused [${toText(code)}] ${toText(detail)}`.trimEnd()
}

function formatBlockers({ blockers }: JsonObject): string {
  const found = Array.isArray(blockers) ? (blockers as readonly JsonObject[]) : []
  const shown = found.slice(0, BLOCKERS_SHOWN_MAX).map(({ message }) => toText(message))
  return [...shown, ...(found.length > shown.length ? [`${found.length - shown.length} more`] : [])].join('; ')
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).replaceAll('\n', ' ') : ''
}
