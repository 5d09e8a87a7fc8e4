import { RE2JS } from 're2js'
import type { EvidenceField, Json, JsonObject } from '../core/contract.js'

/** Every problem of the checkpoint evidence, each in the form `<field> (<what is wrong>: <what is asked>)`. */
export function evidenceProblems(fields: ReadonlyMap<string, EvidenceField>, evidence: JsonObject): readonly string[] {
  const problems: string[] = []
  for (const [name, field] of fields) {
    const value = Object.hasOwn(evidence, name) ? evidence[name] : undefined
    const problem = problemOf(field, value)
    if (problem !== null) problems.push(`${name} (${problem})`)
  }
  for (const name of Object.keys(evidence))
    if (!fields.has(name))
      problems.push(`${name} (unknown: the phase asks for ${[...fields.keys()].join(', ') || 'no evidence'})`)
  return problems
}

function problemOf(field: EvidenceField, value: Json | undefined): string | null {
  if (value === undefined || value === null)
    return field.optional ? null : `required: ${field.description || `a value of type ${field.type}`}`
  const given = typeName(value)
  if (!fitsType(field, value)) return `wrong type: expected ${field.type}, got ${given}`
  const broken = brokenRule(field, value)
  return broken === null
    ? null
    : `validation failed: ${field.description === '' ? broken : `${field.description}; ${broken}`}`
}

function fitsType(field: EvidenceField, value: Json): boolean {
  switch (field.type) {
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
    case 'number':
      return typeof value === 'number'
    case 'array':
      return Array.isArray(value)
    case 'object':
      return value !== null && typeof value === 'object' && !Array.isArray(value)
    default:
      return typeof value === field.type
  }
}

function brokenRule(field: EvidenceField, value: Json): string | null {
  if (field.mustBe !== undefined)
    return JSON.stringify(value) === JSON.stringify(field.mustBe) ? null : `must be ${JSON.stringify(field.mustBe)}`
  if (field.type === 'boolean' && value !== true && !field.optional && field.mayBeFalse !== true) return 'must be true'
  const size =
    typeof value === 'number'
      ? value
      : typeof value === 'string'
        ? [...value].length
        : Array.isArray(value)
          ? value.length
          : null
  if (field.min !== null && size !== null && size < field.min) return `must be at least ${field.min}`
  if (field.above !== undefined && typeof value === 'number' && value <= field.above)
    return `must be greater than ${field.above}`
  if (field.max !== null && size !== null && size > field.max) return `must be at most ${field.max}`
  if (field.minLength !== null && typeof value !== 'number' && size !== null && size < field.minLength)
    return `must have a length of at least ${field.minLength}`
  if (field.enum !== null && !field.enum.some((one) => JSON.stringify(one) === JSON.stringify(value)))
    return `must be one of ${field.enum.map((one) => JSON.stringify(one)).join(', ')}`
  if (field.pattern !== null && typeof value === 'string' && !RE2JS.compile(field.pattern).matcher(value).find())
    return `must match ${field.pattern}`
  return null
}

function typeName(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return value === null ? 'null' : typeof value
}
