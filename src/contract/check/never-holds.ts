import type { CheckName } from '../../core/contract/contract.js'
import { OBSERVED_RUN_MEMBERS } from '../../core/evidence/observed-run.js'
import type { JsonObject } from '../../core/json.js'
import { REVIEW_ARTIFACTS } from '../../core/reviews/review.js'
import type { CommandDocument, ContractDocument, PhaseDocument } from '../document.js'
import { readExpression } from '../expression.js'
import type { ReadPath } from '../expression-reads.js'
import { listPhasesUpTo } from './check-graph.js'
import {
  ARTIFACT_NEEDS,
  ASSEMBLED_REVIEW,
  makeObjectSchema,
  NO_OPEN_QUESTIONS,
  REPORTED_RUN_NEEDS,
} from './check-needs.js'
import { type CheckOwner, getCheckName } from './demands.js'
import { findConflict } from './schema-conflict.js'

/** Why a condition can never hold, the field that causes it, and what would be right. */
export interface NeverHolds {
  readonly key: string
  readonly why: string
  readonly remedy: string
}

interface CheckScene {
  readonly document: ContractDocument
  readonly phase: PhaseDocument
  /** Phases that can be entered with the tests of a RED run recorded. */
  readonly afterRed: ReadonlySet<string>
}

/** These words are reserved: no reviewer can have such a name. */
const NO_REVIEWER: ReadonlySet<string> = new Set(['human', 'orchestrator'])

/** Why a blocking check can never hold, whatever the agent does; null when it may. Decided from the contract alone. */
export function findNeverHolds(scene: CheckScene, owner: CheckOwner): NeverHolds | null {
  const check = getCheckName(owner)
  const key = 'rule' in owner ? 'rule' : 'check'
  switch (check) {
    case 'coverage_threshold_met':
      return findNeverCovered(scene.document, check, key)
    case 'coverage_not_lower':
      return findNeverCovered(scene.document, check, key) ?? findNeverObserved(scene.document, check, key)
    case 'tests_not_worse':
    case 'test_files_load':
      return findNeverObserved(scene.document, check, key)
    case 'tests_are_failing':
    case 'all_tests_pass':
    case 'no_skipped_tests':
      return findNeverRun(scene, check, key)
    case 'tests_can_fail':
      return findNeverInverted(scene.document, key)
    case 'tests_unchanged':
      return scene.afterRed.has(scene.phase.id) ? null : makeNeverRecorded(key)
    case 'expression':
      return findNeverTrue(scene, owner)
    case 'all_review_models_completed':
      return findNeverReviewed(owner)
    case 'no_open_questions':
      return findNeverWithoutQuestions(scene, key)
    default:
      return findNeverInArtifact(scene, { check, key, needs: getNeeds(check) })
  }
}

/** The format reports coverage but counts no tests. */
export function isCoverageCommand({ format }: CommandDocument): boolean {
  return format === 'lcov' || format === 'cobertura'
}

export function findCommand(document: ContractDocument, name: string): CommandDocument | undefined {
  return Object.hasOwn(document.commands ?? {}, name) ? document.commands?.[name] : undefined
}

function findNeverCovered(document: ContractDocument, check: CheckName, key: string): NeverHolds | null {
  const command = findCommand(document, 'coverage')
  const remedy = 'Add commands.coverage with run, report and format: lcov or cobertura, or use severity: warning.'
  if (command === undefined) return { key, why: `${check} reads commands.coverage, which is not defined`, remedy }
  if (isCoverageCommand(command)) return null
  const why = `commands.coverage has the format ${command.format}, which reports no coverage`
  return { key, why, remedy: 'Set format of commands.coverage to lcov or cobertura.' }
}

function findNeverRun(scene: CheckScene, check: CheckName, key: string): NeverHolds | null {
  const { document, phase } = scene
  const command = findCommand(document, 'tests')
  if (command !== undefined) {
    if (!isCoverageCommand(command)) return null
    const why = `commands.tests has the format ${command.format}, which counts no tests`
    return { key, why, remedy: 'Set format of commands.tests to that of the test runner, or to auto.' }
  }
  const isRequired = phase.required_artifacts.some((artifact) => artifact.type === 'test_run_result')
  const isRequiredBefore = listOrigins(scene, 'test_run_result').length > 0
  if (!isRequired && isRequiredBefore)
    return {
      key,
      why: `${check} reads the test_run_result of this phase, which does not require one; a result of an earlier phase does not count`,
      remedy: `Add {type: test_run_result} to required_artifacts of '${phase.id}', or add commands.tests.`,
    }
  const needs = { test_run_result: REPORTED_RUN_NEEDS.get(check) ?? [] }
  return findNeverInArtifact(scene, { check, key, needs })
}

function findNeverInverted(document: ContractDocument, key: string): NeverHolds | null {
  const command = findCommand(document, 'tests')
  if (command !== undefined && !isCoverageCommand(command)) return null
  return {
    key,
    why: 'tests_can_fail runs the new tests once more, and commands.tests does not say how',
    remedy: 'Add commands.tests, for example {run: npm test}, or remove the check.',
  }
}

function findNeverObserved(document: ContractDocument, check: CheckName, key: string): NeverHolds | null {
  const command = findCommand(document, 'tests')
  if (command !== undefined && !isCoverageCommand(command)) return null
  const remedy = 'Add commands.tests, for example {run: npm test}, or remove the check.'
  return { key, why: `${check} reads runs of the tests, and commands.tests does not say how they are run`, remedy }
}

function makeNeverRecorded(key: string): NeverHolds {
  return {
    key,
    why: 'tests_unchanged compares with the tests of a RED run, and no gate on the way here has the check tests_are_failing',
    remedy:
      'Add tests_are_failing to the gate of an earlier phase, remove this check, or set tests.allow_changes: true.',
  }
}

function findNeverReviewed(owner: CheckOwner): NeverHolds | null {
  const name = owner.required_reviews?.find((one) => NO_REVIEWER.has(one))
  if (name === undefined) return null
  const why = `no reviewer can be called '${name}', so the review can never be given`
  return { key: 'required_reviews', why, remedy: 'Use another name; ask for a human with an approval gate.' }
}

function findNeverWithoutQuestions(scene: CheckScene, key: string): NeverHolds | null {
  for (const { type } of scene.phase.required_artifacts) {
    const conflict = findNeedsConflict(scene, type, [NO_OPEN_QUESTIONS])
    if (conflict !== null) return makeForbidden({ check: 'no_open_questions', key, type, conflict })
  }
  return null
}

interface Need {
  readonly check: CheckName
  readonly key: string
  /** By artifact type; one of them is enough. */
  readonly needs: Readonly<Record<string, readonly JsonObject[]>>
}

function getNeeds(check: CheckName): Need['needs'] {
  return Object.fromEntries(Object.entries(ARTIFACT_NEEDS.get(check) ?? {}).map(([type, need]) => [type, [need]]))
}

function findNeverInArtifact(scene: CheckScene, { check, key, needs }: Need): NeverHolds | null {
  const available = Object.entries(needs).filter(([type]) => listOrigins(scene, type).length > 0)
  const conflicts = available.map(([type, need]) => ({ type, conflict: findNeedsConflict(scene, type, need) }))
  const [first] = conflicts
  if (first === undefined || first.conflict === null || conflicts.some((conflict) => conflict.conflict === null))
    return null
  return makeForbidden({ check, key, type: first.type, conflict: first.conflict })
}

function makeForbidden(one: { check: string; key: string; type: string; conflict: string }): NeverHolds {
  const why = `the schema of ${one.type} accepts no value for which ${one.check} holds (${one.conflict})`
  return { key: one.key, why, remedy: `Change the schema of ${one.type}, or remove the check.` }
}

/** Why no accepted artifact of this type satisfies the check; null when one may. */
function findNeedsConflict(scene: CheckScene, type: string, needs: readonly JsonObject[]): string | null {
  const conflicts = listOrigins(scene, type).map((schemas) => findConflict([...schemas, ...needs]))
  return conflicts.includes(null) ? null : (conflicts[0] ?? null)
}

/** The schemas that validated the newest artifact of this type, for each phase it may be from. */
function listOrigins(scene: CheckScene, type: string): readonly (readonly (JsonObject | boolean)[])[] {
  const { document, phase } = scene
  if (REVIEW_ARTIFACTS.includes(type) && hasReviewCheck(phase)) return [listSchemas(document, phase, type)]
  const before = listPhasesUpTo(document, phase.id)
  const own = phase.required_artifacts.some((artifact) => artifact.type === type) ? [phase] : null
  return (own ?? document.phases.filter(({ id }) => before.has(id)))
    .filter((one) => one.required_artifacts.some((artifact) => artifact.type === type))
    .map((one) => listSchemas(document, one, type))
}

/** What an artifact of this phase must match: its schema and, if Phaselock makes it, its known parts. */
export function listSchemas(document: ContractDocument, phase: PhaseDocument, type: string): (JsonObject | boolean)[] {
  if (type === 'test_run_result' && findCommand(document, 'tests') !== undefined) return [OBSERVED_RESULT]
  const name = phase.required_artifacts.find((artifact) => artifact.type === type)?.schema
  const schema = name === undefined ? undefined : document.schemas[name]
  const isAssembled = REVIEW_ARTIFACTS.includes(type) && hasReviewCheck(phase)
  return [...(schema === undefined ? [] : [schema]), ...(isAssembled ? [ASSEMBLED_REVIEW] : [])]
}

const OBSERVED_RESULT: JsonObject = {
  properties: Object.fromEntries(OBSERVED_RUN_MEMBERS.map((name) => [name, true])),
  additionalProperties: false,
}

function hasReviewCheck(phase: PhaseDocument): boolean {
  const owners = [
    ...phase.required_artifacts.flatMap((artifact) => artifact.validation),
    ...phase.gates.flatMap((gate) => gate.blockers),
  ]
  return (
    phase.consensus !== undefined ||
    (phase.auto_spawn ?? []).length > 0 ||
    owners.some((owner) => getCheckName(owner) === 'all_review_models_completed')
  )
}

function findNeverTrue(scene: CheckScene, owner: CheckOwner): NeverHolds | null {
  const expression = readExpression(owner.when ?? '')
  if (!expression.ok) return null
  const key = 'when'
  if (expression.isNeverTrue)
    return {
      key,
      why: `the expression '${owner.when ?? ''}' is always false`,
      remedy: 'Correct the expression, or remove it.',
    }
  for (const path of expression.required) {
    const missing = findMissingMember(scene, path)
    if (missing !== null) return { key, ...missing }
  }
  return null
}

function findMissingMember(scene: CheckScene, [variable, ...members]: ReadPath): Omit<NeverHolds, 'key'> | null {
  const [first, ...rest] = members
  if (first === undefined) return null
  if (variable === 'observed') return findMissingRun(scene.document, first, rest[0])
  if (variable === 'evidence') return findMissingEvidence(scene.phase, first)
  if (variable !== 'artifacts' || rest.length === 0) return null
  const need = rest.reduceRight<JsonObject>((inner, name) => makeObjectSchema({ [name]: inner }), {})
  const conflict = findNeedsConflict(scene, first, [need])
  if (conflict === null) return null
  return {
    why: `the expression reads ${[variable, ...members].join('.')}, which no valid ${first} has (${conflict})`,
    remedy: `Correct the expression, or change the schema of ${first}.`,
  }
}

function findMissingRun(
  document: ContractDocument,
  name: string,
  member: string | undefined,
): Omit<NeverHolds, 'key'> | null {
  const names = Object.keys(document.commands ?? {})
  if (!names.includes(name))
    return {
      why: `the expression reads observed.${name}, and commands.${name} is not defined`,
      remedy: `Add commands.${name}, or read one of: ${names.length === 0 ? 'none is defined' : names.join(', ')}.`,
    }
  if (member === undefined || OBSERVED_RUN_MEMBERS.some((known) => known === member)) return null
  return {
    why: `the expression reads observed.${name}.${member}, which runs do not report`,
    remedy: `Read one of: ${OBSERVED_RUN_MEMBERS.join(', ')}.`,
  }
}

// Fields that are read from a document are known there.
function findMissingEvidence(
  { id, checkpoint, document }: PhaseDocument,
  name: string,
): Omit<NeverHolds, 'key'> | null {
  const fields = Object.keys(checkpoint?.evidence ?? {})
  if (fields.includes(name) || checkpoint?.source !== undefined || document !== undefined) return null
  return {
    why: `the expression reads evidence.${name}, and the checkpoint of '${id}' has no such field`,
    remedy: `Add it to checkpoint.evidence of '${id}'; its fields: ${fields.length === 0 ? 'none' : fields.join(', ')}.`,
  }
}
