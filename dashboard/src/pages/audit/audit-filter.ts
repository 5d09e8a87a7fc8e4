/** The filters of the audit page, as they stand in the URL. */
export interface AuditFilter {
  readonly q?: string
  readonly type?: string
  readonly code?: string
  readonly task_id?: string
  readonly agent_id?: string
  readonly actor?: string
  readonly phase?: string
  readonly tool_name?: string
  readonly stream?: string
  readonly success?: string
  readonly since?: string
  readonly until?: string
}

export const FILTER_FIELDS = [
  ...(['q', 'type', 'code', 'task_id', 'agent_id', 'actor'] as const),
  ...(['phase', 'tool_name', 'stream', 'success', 'since', 'until'] as const),
]
export type FilterField = (typeof FILTER_FIELDS)[number]

export const FIELD_NAMES: Readonly<Record<FilterField, string>> = {
  q: 'Text',
  type: 'Type',
  code: 'Code',
  task_id: 'Task',
  agent_id: 'Agent',
  actor: 'Actor',
  phase: 'Phase',
  tool_name: 'Tool',
  stream: 'Stream',
  success: 'Outcome',
  since: 'From',
  until: 'Until',
}

/** Only the fields that say something, so that equal searches have equal URLs. */
export function readFilter(search: Readonly<Record<string, unknown>>): AuditFilter {
  const said = FILTER_FIELDS.flatMap((field) => {
    const value = search[field]
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return []
    const text = String(value).trim()
    return text === '' ? [] : [[field, text]]
  })
  return Object.fromEntries(said) as AuditFilter
}

/** The filter as query parameters: local times become exact ones. */
export function toQuery(filter: AuditFilter): Readonly<Record<string, string>> {
  const entries = Object.entries(filter).map(([field, value]) => {
    if (field !== 'since' && field !== 'until') return [field, value]
    const at = new Date(value)
    return [field, Number.isNaN(at.getTime()) ? value : at.toISOString()]
  })
  return Object.fromEntries(entries)
}

/** What an event is about, in one line of plain text. */
export function summarize(data: Readonly<Record<string, unknown>>): string {
  const said = SUMMARY_FIELDS.flatMap((field) => {
    const value = data[field]
    if (typeof value === 'string' && value !== '') return [value]
    if (typeof value === 'number') return [`${field} ${value}`]
    return []
  })
  const text = said.length > 0 ? said.join(' · ') : listValues(data)
  return text.length <= SUMMARY_CHARS_MAX ? text : `${text.slice(0, SUMMARY_CHARS_MAX)}…`
}

/** Names and values, without what is nested; long ones are hashes and ids, of which the begin is enough. */
function listValues(data: Readonly<Record<string, unknown>>): string {
  const values = Object.entries(data).flatMap(([field, value]) =>
    typeof value === 'object' || value === '' ? [] : [`${field.replaceAll('_', ' ')} ${cutValue(String(value))}`],
  )
  return values.join(' · ')
}

function cutValue(value: string): string {
  return value.length <= VALUE_CHARS_MAX ? value : `${value.slice(0, VALUE_CHARS_MAX)}…`
}

const VALUE_CHARS_MAX = 24
const SUMMARY_CHARS_MAX = 240
const SUMMARY_FIELDS = [
  ...['code', 'tool_name', 'tool', 'gate', 'from', 'to', 'target', 'agent_id', 'agent', 'name', 'label', 'decision'],
  ...['detail', 'message', 'reason', 'title', 'comment', 'path', 'question', 'details', 'winner', 'id'],
]
