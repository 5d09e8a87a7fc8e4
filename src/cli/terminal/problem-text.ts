import type { Json, JsonObject } from '../../core/json.js'
import { plainLine, plainText } from '../../core/plain-text.js'

const LIST_MAX = 20

/** A problem document in words: what was refused, why, and what to do about it. */
export function problemText(problem: JsonObject): string {
  const detail = textOf(problem.detail) || textOf(problem.title) || 'The server refused without saying why.'
  const lines = [`${plainText(detail)} [${plainLine(textOf(problem.code) || 'unknown')}]`]
  const errors = list(problem.errors)
  // A single wrong field is what the detail says already.
  if (errors.length > 1 || errors[0]?.line !== undefined) lines.push(...errors.map(diagnosticLine))
  lines.push(...list(problem.blockers).map((one) => `  ${textOf(one.message)} [${textOf(one.code)}]`))
  lines.push(...list(problem.not_enforced).map((one) => `  ${textOf(one.path)}: ${textOf(one.feature)}`))
  for (const advice of [problem.next_step, problem.remedy])
    if (typeof advice === 'string' && advice !== '') lines.push(plainText(advice))
  if (Array.isArray(problem.last_lines))
    lines.push(...problem.last_lines.slice(0, LIST_MAX).map((line) => `  | ${textOf(line)}`))
  return lines.map((line) => plainText(line)).join('\n')
}

function diagnosticLine(one: JsonObject): string {
  if (one.line === undefined) return `  ${textOf(one.field)}: ${textOf(one.message)}`
  const place = `${textOf(one.file) === '' ? '' : `${textOf(one.file)}:`}${one.line ?? '?'}:${one.column ?? '?'}`
  const path = textOf(one.path) === '' ? '' : `${textOf(one.path)}: `
  const remedy = textOf(one.remedy) === '' ? '' : `\n      ${textOf(one.remedy)}`
  return `  ${place}: ${textOf(one.severity)} ${textOf(one.code)}: ${path}${textOf(one.message)}${remedy}`
}

function list(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]).slice(0, LIST_MAX) : []
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? plainLine(value) : ''
}
