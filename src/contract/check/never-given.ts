import { findObservedSource, OBSERVED_MEMBERS, type ObservedSource } from '../../core/evidence/observed-evidence.js'
import type { JsonObject } from '../../core/json.js'
import type { ContractDocument, EvidenceDocument, PhaseDocument } from '../document.js'
import { makeObjectSchema } from './check-needs.js'
import { findCommand, isCoverageCommand, type NeverHolds } from './never-holds.js'
import { findConflict } from './schema-conflict.js'

/** Evidence fields that no value and no run can fill, and why. */
export function listNeverGiven(
  document: ContractDocument,
  phase: PhaseDocument,
): readonly (NeverHolds & { made: object })[] {
  return listFields(phase).flatMap(([name, field]) => {
    const never = field.grade === 'observed' ? findNeverObserved(document, name, field) : findNeverAccepted(name, field)
    return never === null ? [] : [{ made: field, ...never }]
  })
}

/** More verified fields are required than can be verified. Fields that are read from a document are counted there. */
export function findNeverVerified(phase: PhaseDocument): NeverHolds | null {
  if (phase.checkpoint?.source !== undefined) return null
  const graded = listFields(phase).filter(([, field]) => field.grade !== 'reported').length
  if (phase.min_verified <= graded) return null
  return {
    key: 'min_verified',
    why: `min_verified is ${phase.min_verified}, and ${graded} of its evidence fields have a grade above reported`,
    remedy: 'Give more fields the grade artifact or observed, or lower min_verified.',
  }
}

/** What the observed fields of the checkpoint require of the runs that fill them. */
export function listEvidenceRuns(document: ContractDocument, phase: PhaseDocument) {
  return listFields(phase).flatMap(([name, field]) => {
    const source = field.grade === 'observed' ? findSource(document, name, field) : null
    if (source === null) return []
    const { command, member } = source
    const needs = makeObjectSchema(
      member === 'succeeded' ? { exit_code: exitCodeOf(field) } : { [member]: buildFieldSchema(field) },
    )
    return [{ made: field, key: 'type', name: `the evidence field ${name}`, of: command, needs }]
  })
}

function listFields(phase: PhaseDocument): readonly [string, EvidenceDocument][] {
  return Object.entries(phase.checkpoint?.evidence ?? {})
}

function findSource(document: ContractDocument, name: string, field: EvidenceDocument): ObservedSource | null {
  return findObservedSource(Object.keys(document.commands ?? {}), name, field.type)
}

function findNeverObserved(document: ContractDocument, name: string, field: EvidenceDocument): NeverHolds | null {
  const source = findSource(document, name, field)
  if (source === null)
    return {
      key: 'grade',
      why: `no command fills the observed field '${name}' of type ${field.type}`,
      remedy: `Name it <command>_<member> after an entry of commands; members: ${OBSERVED_MEMBERS.join(', ')}.`,
    }
  const { command, member } = source
  const unknown = findUnknownMember(document, source)
  if (unknown !== null) return { key: 'grade', ...unknown }
  if (findConflict([buildFieldSchema(field), VALUES[member] ?? {}]) === null) return null
  const why = `no run of ${command} gives the observed field '${name}' a value that its rules accept`
  return { key: 'type', why, remedy: 'Correct the rules of the field.' }
}

const COUNTED: ReadonlySet<string> = new Set(['passed', 'failed', 'skipped', 'total'])
const COUNT: JsonObject = { type: 'integer', minimum: 0 }

/** The possible values of a run member. */
const VALUES: Readonly<Record<string, JsonObject>> = {
  passed: COUNT,
  failed: COUNT,
  skipped: COUNT,
  total: COUNT,
  coverage: { type: 'number', minimum: 0, maximum: 100 },
}

function findUnknownMember(
  document: ContractDocument,
  { command, member }: ObservedSource,
): Omit<NeverHolds, 'key'> | null {
  const entry = findCommand(document, command)
  if (entry === undefined) return null
  const { format } = entry
  const isCoverage = isCoverageCommand(entry)
  if (member === 'coverage' && !isCoverage)
    return {
      why: `commands.${command} has the format ${format}, which reports no coverage`,
      remedy: `Set format of commands.${command} to lcov or cobertura.`,
    }
  if (!COUNTED.has(member) || !isCoverage) return null
  return {
    why: `commands.${command} has the format ${format}, which counts no tests`,
    remedy: `Set format of commands.${command} to that of the test runner, or to auto.`,
  }
}

// `min` above `max` is reported where the field is read.
function findNeverAccepted(name: string, field: EvidenceDocument): NeverHolds | null {
  const isTold = field.min !== undefined && field.max !== undefined && field.min > field.max
  const isLeftOut = field.optional || isTold || findConflict([buildFieldSchema(field)]) === null
  if (isLeftOut) return null
  const why = `no value of the required evidence field '${name}' meets all of its rules`
  return { key: 'type', why, remedy: 'Correct the rules of the field, or make it optional.' }
}

/** The rules of a field as a JSON Schema. `must_be` overrides all others. */
function buildFieldSchema(field: EvidenceDocument): JsonObject {
  if (field.must_be !== undefined) return { const: field.must_be }
  const isTrue = field.type === 'boolean' && !field.optional && field.may_be_false !== true
  const rules: Readonly<Record<string, JsonObject[string] | undefined>> = {
    type: field.type,
    minimum: field.min,
    maximum: field.max,
    exclusiveMinimum: field.above,
    [field.type === 'array' ? 'minItems' : 'minLength']: field.min_length,
    pattern: field.pattern,
    enum: field.enum,
    const: isTrue ? true : undefined,
  }
  return Object.fromEntries(Object.entries(rules).flatMap(([key, rule]) => (rule === undefined ? [] : [[key, rule]])))
}

function exitCodeOf(field: EvidenceDocument): JsonObject {
  const [isTrue, isFalse] = [true, false].map(
    (value) => findConflict([buildFieldSchema(field), { const: value }]) === null,
  )
  if (isTrue === isFalse) return {}
  return isTrue === true ? { const: 0 } : { type: 'integer', not: { const: 0 } }
}
