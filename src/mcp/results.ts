import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server'
import type { Problem, Result } from '../app/result.js'
import { isChecking } from '../app/transitions/long-gates.js'
import { CODES } from '../core/codes.js'
import type { JsonObject } from '../core/json.js'

const INVALID_PARAMS = -32602

/** A tool result: the answer of the REST API, as structure and as text. */
export function toToolResult(tool: string, answer: Result<JsonObject>): CallToolResult {
  return addVerdict(tool, toResult(answer))
}

/**
 * The verdict comes first: agent CLIs fold results to their first line, and a refused call must not look like one that
 * was made. The text of an answer stays JSON, with the verdict as its first field: programs parse it.
 */
export function addVerdict(tool: string, result: CallToolResult): CallToolResult {
  const { code } = (result.structuredContent ?? {}) as { readonly code?: unknown }
  const verdict =
    result.isError === true ? `Refused: ${tool}${typeof code === 'string' ? ` [${code}]` : ''}` : `Allowed: ${tool}`
  const [first, ...rest] = result.content
  const isAnswer = result.isError !== true && first?.type === 'text' && /^\{"/.test(first.text)
  const join = (text: string): string =>
    isAnswer ? `{"verdict":${JSON.stringify(verdict)},${text.slice(1)}` : `${verdict}\n${text}`
  return first?.type === 'text'
    ? { ...result, content: [{ ...first, text: join(first.text) }, ...rest] }
    : { ...result, content: [{ type: 'text', text: verdict }, ...result.content] }
}

function toResult(answer: Result<JsonObject>): CallToolResult {
  if (!answer.ok) return toRefusalResult(answer.problem)
  // A closed gate is a normal answer of the API; a model must not take it for success. Gates that are still being
  // checked refuse nothing.
  if (isChecking(answer.value)) return makeResult(answer.value, JSON.stringify(answer.value), false)
  if (answer.value.allowed === false || hasBlockers(answer.value)) return toBlockedResult(answer.value)
  if (answer.value.checkpoint_passed === false) return toIncompleteResult(answer.value)
  return makeResult(answer.value, JSON.stringify(answer.value), false)
}

export function toRefusalResult(problem: Problem): CallToolResult {
  const document = toRefusalDocument(problem)
  const lines = (document.last_lines ?? []) as readonly string[]
  return makeResult(document, [formatRefusal(problem.detail, document), ...lines.map(asOutput)].join('\n'), true)
}

function asOutput(line: string): string {
  return `    | ${line}`
}

/** The refusal of a request that has no tool result. */
export function toRefusalError(problem: Problem): ProtocolError {
  return new ProtocolError(
    INVALID_PARAMS,
    formatRefusal(problem.detail, toRefusalDocument(problem)),
    toRefusalDocument(problem),
  )
}

function toRefusalDocument({ code, detail, extra }: Problem): JsonObject {
  const { title, remedy } = CODES[code]
  return { code, detail, title, remedy, ...extra }
}

// The checkpoint passed but a gate is still closed: the task did not move.
function hasBlockers({ checkpoint_passed, blockers }: JsonObject): boolean {
  return checkpoint_passed === true && Array.isArray(blockers) && blockers.length > 0
}

function toIncompleteResult(answer: JsonObject): CallToolResult {
  const missing = (answer.missing_evidence ?? []) as readonly string[]
  const document = { code: 'incomplete_checkpoint', detail: missing.join('; '), ...answer }
  const format = `Required: ${JSON.stringify(answer.required_format ?? {})}`
  return makeResult(
    document,
    [`${String(answer.message)} [incomplete_checkpoint]`, ...missing, format].join('\n'),
    true,
  )
}

type FoundBlocker = {
  readonly code: string
  readonly message: string
  readonly remedy: string
  readonly run?: { readonly last_lines: readonly string[] }
}

function toBlockedResult(answer: JsonObject): CallToolResult {
  const blockers = (answer.blockers ?? []) as readonly FoundBlocker[]
  const code = blockers.length === 1 ? (blockers[0]?.code ?? 'gate_blocked') : 'gate_blocked'
  const document = { code, detail: blockers.map((blocker) => blocker.message).join('; '), ...answer }
  const listed = blockers.flatMap((blocker) => [
    `- ${blocker.message} [${blocker.code}] ${blocker.remedy}`,
    ...(blocker.run?.last_lines ?? []).map(asOutput),
  ])
  return makeResult(document, [formatRefusal(document.detail, document), ...listed].join('\n'), true)
}

// What was refused, how many tries are left, what is allowed instead, and what to do next.
function formatRefusal(detail: string, document: JsonObject): string {
  const retry = document.retry as { readonly text?: string } | undefined
  const first = retry?.text ?? detail
  const allowed = document.allowed_tools as readonly string[] | undefined
  const lines = [first]
  if (allowed !== undefined && !first.includes('Allowed: ')) lines.push(`Allowed: ${allowed.join(', ') || 'none'}`)
  lines.push(`${String(document.next_step ?? document.remedy ?? '')} [${String(document.code)}]`.trim())
  return lines.join('\n')
}

function makeResult(structured: JsonObject, text: string, isError: boolean): CallToolResult {
  const result = { content: [{ type: 'text' as const, text }], structuredContent: structured }
  return isError ? { ...result, isError } : result
}
