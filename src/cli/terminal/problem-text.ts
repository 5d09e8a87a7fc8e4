import type { Json, JsonObject } from '../../core/json.js'
import { plainLine, plainText } from '../../core/plain-text.js'

const LIST_MAX = 20

/** A problem document as text: what was refused, why, and what to do about it. */
export function formatProblem(problem: JsonObject): string {
  const detail = toText(problem.detail) || toText(problem.title) || 'The server refused without saying why.'
  const lines = [`${plainText(detail)} [${plainLine(toText(problem.code) || 'unknown')}]`]
  const errors = list(problem.errors)
  // For a single invalid field, the detail already says it.
  if (errors.length > 1 || errors[0]?.line !== undefined) lines.push(...errors.map(formatDiagnosticLine))
  lines.push(...list(problem.blockers).map((one) => `  ${toText(one.message)} [${toText(one.code)}]`))
  lines.push(...list(problem.not_enforced).map((one) => `  ${toText(one.path)}: ${toText(one.feature)}`))
  for (const advice of [problem.next_step, problem.remedy])
    if (typeof advice === 'string' && advice !== '') lines.push(plainText(advice))
  if (Array.isArray(problem.last_lines))
    lines.push(...problem.last_lines.slice(0, LIST_MAX).map((line) => `  | ${toText(line)}`))
  return lines.map((line) => plainText(line)).join('\n')
}

function formatDiagnosticLine(one: JsonObject): string {
  if (one.line === undefined) return `  ${toText(one.field)}: ${toText(one.message)}`
  const place = `${toText(one.file) === '' ? '' : `${toText(one.file)}:`}${one.line ?? '?'}:${one.column ?? '?'}`
  const path = toText(one.path) === '' ? '' : `${toText(one.path)}: `
  const remedy = toText(one.remedy) === '' ? '' : `\n      ${toText(one.remedy)}`
  return `  ${place}: ${toText(one.severity)} ${toText(one.code)}: ${path}${toText(one.message)}${remedy}`
}

function list(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]).slice(0, LIST_MAX) : []
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? plainLine(value) : ''
}
