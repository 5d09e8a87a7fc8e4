import { isObject, type Json, type JsonObject } from '../../core/json.js'

/** What a person has to decide before a call can end otherwise. */
export type Waiting =
  | { readonly kind: 'approval'; readonly id: string }
  | { readonly kind: 'question'; readonly id: string }

/** Finds what the result of a tool call waits for; null: it is final. */
export function findWaiting(result: JsonObject): Waiting | null {
  const said = result.structuredContent
  if (!isObject(said)) return null
  const { code, pending_approval: pending } = said
  if (code === 'approval_pending' && isObject(pending) && typeof pending.id === 'string')
    return { kind: 'approval', id: pending.id }
  const asked = isObject(said.result) ? said.result : said
  if (asked.status === 'open' && typeof asked.question_id === 'string')
    return { kind: 'question', id: asked.question_id }
  return null
}

/** Whether the call completed the task, or found that there is none any more. */
export function isTaskOver({ structuredContent: said }: JsonObject): boolean {
  return isObject(said) && (said.completed === true || said.code === 'no_active_task')
}

/**
 * The result with the verdict as its first line: a folded result of an agent CLI shows nothing else, and a refused call
 * looks like one that was made.
 */
export function addVerdict(result: JsonObject, tool: string): JsonObject {
  const { structuredContent: said } = result
  const code = isObject(said) && typeof said.code === 'string' ? ` [${said.code}]` : ''
  const verdict = result.isError === true ? `Refused: ${tool}${code}` : `Allowed: ${tool}`
  const content = Array.isArray(result.content) ? (result.content as readonly Json[]) : []
  const [first, ...rest] = content
  const isText = isObject(first) && first.type === 'text'
  // The server says it first; calls that never reached it are answered here.
  if (isText && String(first.text).split('\n')[0] === verdict) return result
  const text = isText ? `${verdict}\n${String(first.text)}` : verdict
  return { ...result, content: [{ type: 'text', text }, ...(isText ? rest : content)] }
}

/** The result with a line for the model at the end. Codex shows its model only the structured part, if there is one. */
export function addNote(result: JsonObject, note: string): JsonObject {
  const content = Array.isArray(result.content) ? result.content : []
  const { structuredContent: said } = result
  return {
    ...result,
    content: [...content, { type: 'text', text: note }],
    ...(isObject(said) ? { structuredContent: { ...said, note } } : {}),
  }
}
