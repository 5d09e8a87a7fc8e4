import { toCanonicalJson } from '../contract/fingerprint.js'
import { matchesPattern } from '../contract/patterns.js'
import type { EvidenceField } from '../core/contract/contract.js'
import type { PhaseTask } from '../core/contract/phase-document.js'
import type { EvidenceProof } from '../core/evidence/checkpoint-event.js'
import { gradeRun } from '../core/evidence/inverted-run.js'
import { findObservedSource, readObservedValue } from '../core/evidence/observed-evidence.js'
import type { ObservedRun } from '../core/evidence/observed-run.js'
import { isObject, type Json, type JsonObject } from '../core/json.js'
import { type FileSeen, pathsOf } from './evidence-files.js'

/** The evidence that a phase asks for at its checkpoint. */
interface EvidenceAsked {
  readonly fields: ReadonlyMap<string, EvidenceField>
  readonly minVerified: number
  readonly tasksOpen: readonly PhaseTask[]
  /** Names of the contract's commands. */
  readonly commands: readonly string[]
}

/** Facts that Phaselock observed itself. */
interface EvidenceSeen {
  /** By the path that was given. */
  readonly files: ReadonlyMap<string, FileSeen>
  /** null: nothing was run yet. */
  readonly runs: ReadonlyMap<string, ObservedRun> | null
}

export interface EvidenceJudged {
  /** As given, with observed values filled in. */
  readonly evidence: JsonObject
  /** Each in the form `<field> (<what is wrong>: <what is asked>)`. */
  readonly problems: readonly string[]
  /** Fields that only a run can fill, before there is a run. */
  readonly open: readonly string[]
  readonly proofs: Readonly<Record<string, EvidenceProof>>
}

type Verdict =
  | { readonly kind: 'holds'; readonly value?: Json; readonly proof?: EvidenceProof }
  | { readonly kind: 'problem' | 'open'; readonly text: string }

const VALUE_CHARS_MAX = 200
const PATTERN_TEXT_CHARS_MAX = 100_000
const NAMES_TOLD_MAX = 50

/** Judges checkpoint evidence: reports every problem at once, and the grade of each valid field. */
export function judgeEvidence(asked: EvidenceAsked, given: JsonObject, seen: EvidenceSeen): EvidenceJudged {
  const problems: string[] = []
  const open: string[] = []
  const filled = new Map<string, Json>(Object.entries(given))
  const proofs: [string, EvidenceProof][] = []
  let verified = 0
  for (const [name, field] of asked.fields) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    const verdict = judgeField({ name, field, value }, asked, seen)
    if (verdict.kind === 'problem') problems.push(`${name} (${verdict.text})`)
    if (verdict.kind === 'open') open.push(`${name} (${verdict.text})`)
    if (verdict.kind !== 'holds') continue
    if (verdict.value !== undefined) filled.set(name, verdict.value)
    if (verdict.proof === undefined) continue
    verified += 1
    proofs.push([name, verdict.proof])
  }
  problems.push(...listUnaskedFields(asked.fields, given), ...listUnfinishedTasks(asked.tasksOpen))
  if (problems.length === 0 && verified + open.length < asked.minVerified)
    problems.push(
      `min_verified (validation failed: ${asked.minVerified} fields must be proved by a file or a run, and ${verified} ${verified === 1 ? 'is' : 'are'})`,
    )
  return { evidence: Object.fromEntries(filled), problems, open, proofs: Object.fromEntries(proofs) }
}

function listUnaskedFields(fields: ReadonlyMap<string, EvidenceField>, given: JsonObject): readonly string[] {
  const names = [...fields.keys()].slice(0, NAMES_TOLD_MAX).join(', ') || 'no evidence'
  return Object.keys(given)
    .filter((name) => !fields.has(name))
    .map((name) => `${name} (validation error: unknown field; the phase asks for ${names})`)
}

// Later tasks are counted but not named, because they are handed out one at a time.
function listUnfinishedTasks(tasks: readonly PhaseTask[]): readonly string[] {
  const [current, ...later] = tasks
  if (current === undefined) return []
  const more = later.length === 0 ? '' : `; ${later.length} more to follow`
  return [`${current.id} (required: finish ${current.title || current.id}${more})`]
}

interface GivenField {
  readonly name: string
  readonly field: EvidenceField
  readonly value: Json | undefined
}

function judgeField(given: GivenField, asked: EvidenceAsked, seen: EvidenceSeen): Verdict {
  const { field, value } = given
  if (field.grade === 'observed') return judgeObserved(given, asked, seen)
  if (value === undefined || value === null)
    return field.optional ? { kind: 'holds' } : makeProblem(`required: ${formatDescription(field)}`)
  const wrong = findWrongValue(field, value)
  if (wrong !== null) return makeProblem(wrong)
  return field.grade === 'artifact' ? judgeFiles(value, seen) : { kind: 'holds' }
}

function judgeObserved({ name, field, value }: GivenField, asked: EvidenceAsked, seen: EvidenceSeen): Verdict {
  const source = findObservedSource(asked.commands, name, field.type)
  if (source === null) return makeProblem('validation error: no command of the contract fills this field')
  const isClaimed = value !== undefined && value !== null
  if (isClaimed && !isOfType(field, value)) return makeProblem(describeWrongType(field, value))
  const run = seen.runs?.get(source.command)
  if (run === undefined)
    return { kind: 'open', text: `validation error: ${source.command} is run when everything else holds` }
  const observed = readObservedValue(source, run)
  if (!observed.ok) return makeProblem(`validation error: ${source.command} was run, but ${observed.why}`)
  if (isClaimed && toCanonicalJson(value) !== toCanonicalJson(observed.value))
    return makeProblem(`validation failed: claimed ${formatValue(value)}, observed ${formatValue(observed.value)}`)
  const broken = findBrokenRule(field, observed.value)
  if (broken !== null)
    return makeProblem(`validation failed: ${field.description || broken}; observed ${formatValue(observed.value)}`)
  return { kind: 'holds', value: observed.value, proof: { grade: gradeRun(run), command: source.command } }
}

function judgeFiles(value: Json, seen: EvidenceSeen): Verdict {
  const paths = pathsOf(value)
  if (paths === null || paths.length === 0) return makeProblem('validation error: it must name a file of the work tree')
  const files: { path: string; sha256: string; bytes: number }[] = []
  for (const path of paths) {
    const file = seen.files.get(path) ?? { ok: false as const, why: 'was not looked at' }
    if (!file.ok) return makeProblem(`validation failed: ${formatValue(path)} ${file.why}`)
    files.push({ path, sha256: file.sha256, bytes: file.bytes })
  }
  return { kind: 'holds', proof: { grade: 'artifact', files } }
}

/** The problem of a value itself: its type, or a rule of its field. */
function findWrongValue(field: EvidenceField, value: Json): string | null {
  if (!isOfType(field, value)) return describeWrongType(field, value)
  try {
    const broken = findBrokenRule(field, value)
    return broken === null ? null : `validation failed: ${field.description || broken}`
  } catch (error) {
    return `validation error: ${error instanceof Error ? error.message : 'the rule cannot be applied'}`
  }
}

function describeWrongType(field: EvidenceField, value: Json): string {
  return `wrong type: expected ${field.type}, got ${describeType(value)}`
}

function formatDescription(field: EvidenceField): string {
  return field.description || `a value of type ${field.type}`
}

function makeProblem(text: string): Verdict {
  return { kind: 'problem', text }
}

function formatValue(value: Json): string {
  const text = JSON.stringify(value)
  return text.length <= VALUE_CHARS_MAX ? text : `${text.slice(0, VALUE_CHARS_MAX)}…`
}

function isOfType(field: EvidenceField, value: Json): boolean {
  switch (field.type) {
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    default:
      return typeof value === field.type
  }
}

function findBrokenRule(field: EvidenceField, value: Json): string | null {
  const isSame = (one: Json): boolean => toCanonicalJson(one) === toCanonicalJson(value)
  if (field.mustBe !== undefined) return isSame(field.mustBe) ? null : `must be ${JSON.stringify(field.mustBe)}`
  if (field.type === 'boolean' && value !== true && !field.optional && field.mayBeFalse !== true) return 'must be true'
  if (field.enum !== null && !field.enum.some(isSame))
    return `must be one of ${field.enum.map((one) => JSON.stringify(one)).join(', ')}`
  if (field.above !== undefined && typeof value === 'number' && value <= field.above)
    return `must be greater than ${field.above}`
  return findBoundsProblem(field, value) ?? findPatternProblem(field, value)
}

function findBoundsProblem(field: EvidenceField, value: Json): string | null {
  if (field.min === null && field.max === null && field.minLength === null) return null
  const size = measureSize(value)
  if (size === null) return null
  if (field.min !== null && size < field.min) return `must be at least ${field.min}`
  if (field.max !== null && size > field.max) return `must be at most ${field.max}`
  if (field.minLength !== null && typeof value !== 'number' && size < field.minLength)
    return `must have a length of at least ${field.minLength}`
  return null
}

function measureSize(value: Json): number | null {
  if (typeof value === 'number') return value
  if (typeof value === 'string') return countCodePoints(value)
  return Array.isArray(value) ? value.length : null
}

function countCodePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

// Matching takes time proportional to the text: a text of megabytes would block everything else.
function findPatternProblem(field: EvidenceField, value: Json): string | null {
  if (field.pattern === null || typeof value !== 'string') return null
  if (value.length > PATTERN_TEXT_CHARS_MAX)
    throw new Error(`longer than ${PATTERN_TEXT_CHARS_MAX} characters, which is too long for its pattern`)
  return matchesPattern(field.pattern, value) ? null : `must match ${field.pattern}`
}

function describeType(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return value === null ? 'null' : typeof value
}
