import type { ArtifactDocument, ConstraintDocument, PhaseDocument } from '../document.js'
import type { ListNode, MapNode, SourceNode } from '../load/yaml.js'
import { findGlobProblem } from '../patterns.js'
import { expectKind, Fields } from './fields.js'
import { readAutoSpawn, readConsensus } from './read-agents.js'
import { readValidation } from './read-blockers.js'
import { readCheckpoint } from './read-checkpoint.js'
import type { GateDefaults } from './read-gates.js'
import { readGates } from './read-gates.js'
import { readId } from './read-id.js'
import { readPhaseText } from './read-phase-text.js'
import { readRules } from './read-rules.js'
import type { Reading } from './reading.js'

const PHASE_KEYS = [
  'id',
  'name',
  'description',
  'prompt',
  'allowed_tools',
  'forbidden_tools',
  'tool_constraints',
  'writable',
  'required_artifacts',
  'checkpoint',
  'gates',
  'rules',
  'consensus',
  'auto_spawn',
  'review',
  'tasks_in_order',
  'min_verified',
  'document',
]
const NODE_KEYS = [...PHASE_KEYS, 'summary', 'transitions']
const CONSTRAINT_KEYS = [
  'allowed_patterns',
  'forbidden_patterns',
  'allowed_commands',
  'forbidden_commands',
  'network',
  'timeout_seconds',
]

export interface PhaseForm {
  readonly isNode: boolean
  readonly gates: GateDefaults
}

/** `phases` as a list, or as a map from id to phase (`nodes` is always a map). */
export function readPhases(reading: Reading, node: SourceNode, form: PhaseForm): PhaseDocument[] {
  if (node.kind === 'list') return node.items.flatMap((item) => readPhase(reading, item, form, null))
  const map = expectKind(reading, node, 'map')
  return [...(map?.entries ?? [])].flatMap(([id, entry]) =>
    readPhase(reading, emptyAsMap(entry.value, entry.keyAt), form, id),
  )
}

function emptyAsMap(node: SourceNode, keyAt: MapNode['at']): SourceNode {
  if (node.kind !== 'scalar' || node.value !== null) return node
  return { kind: 'map', at: keyAt, keyAt, entries: new Map() }
}

function readPhase(reading: Reading, node: SourceNode, form: PhaseForm, key: string | null): PhaseDocument[] {
  const fields = Fields.openFields(reading, node, form.isNode ? NODE_KEYS : PHASE_KEYS)
  if (fields === null) return []
  const id = readId(fields, key, 'PLAN')
  const artifacts = fields.list('required_artifacts')
  const gates = fields.list('gates')
  const phase: PhaseDocument = {
    id,
    name: fields.getText('name', id),
    description: fields.getText('description', form.isNode ? fields.getText('summary') : ''),
    prompt: fields.getText('prompt'),
    allowed_tools: readAllowedTools(fields, form.isNode),
    forbidden_tools: fields.getTexts('forbidden_tools') ?? [],
    tool_constraints: readConstraints(fields),
    required_artifacts: artifacts === null ? [] : readArtifacts(reading, artifacts),
    gates: gates === null ? [] : reading.made(readGates(reading, gates, form.gates), gates),
    tasks_in_order: fields.getFlag('tasks_in_order', false),
    min_verified: readMinVerified(fields),
  }
  readOptionalParts(reading, fields, phase)
  completeReviewRules(phase)
  return [reading.made(phase, node)]
}

function readOptionalParts(reading: Reading, fields: Fields, phase: PhaseDocument): void {
  const writable = fields.getTexts('writable')
  if (writable !== null) {
    phase.writable = writable
    checkGlobs(reading, writable)
  }
  const checkpointNode = fields.get('checkpoint')
  const checkpoint = checkpointNode === undefined ? null : readCheckpoint(reading, checkpointNode)
  if (checkpoint !== null) phase.checkpoint = checkpoint
  const document = fields.get('document')
  const text = document === undefined ? null : readPhaseText(reading, document)
  if (text !== null) phase.document = text
  const rules = fields.list('rules')
  if (rules !== null && rules.items.length > 0) phase.rules = reading.made(readRules(reading, rules, phase.id), rules)
  const consensus = fields.get('consensus')
  if (consensus !== undefined) phase.consensus = readConsensus(reading, consensus)
  const review = fields.openInner('review', ['by'])
  if (review !== null) phase.review = { by: review.choice('by', ['other'], 'other') }
  const spawn = fields.list('auto_spawn')
  if (spawn !== null && spawn.items.length > 0) phase.auto_spawn = reading.made(readAutoSpawn(reading, spawn), spawn)
}

function readAllowedTools(fields: Fields, isNode: boolean): string[] | 'all' {
  const node = fields.get('allowed_tools')
  if (node?.kind === 'scalar' && node.value === 'all') return 'all'
  return fields.getTexts('allowed_tools') ?? (isNode ? 'all' : [])
}

function readMinVerified(fields: Fields): number {
  const node = fields.get('min_verified')
  if (node?.kind === 'scalar' && node.value === 0) return 0
  return fields.getPositive('min_verified', 0)
}

function readConstraints(fields: Fields): Record<string, ConstraintDocument> {
  const constraints: Record<string, ConstraintDocument> = Object.create(null)
  const map = fields.map('tool_constraints')
  if (map === null) return constraints
  for (const [tool, entry] of map.entries) {
    const constraint = readConstraint(fields.reading, entry.value, tool)
    if (constraint !== null) constraints[tool] = constraint
  }
  return fields.reading.made(constraints, map)
}

function readConstraint(reading: Reading, node: SourceNode, tool: string): ConstraintDocument | null {
  const fields = Fields.openFields(reading, node, CONSTRAINT_KEYS)
  if (fields === null) return null
  const constraint: ConstraintDocument = {}
  for (const key of ['allowed_patterns', 'forbidden_patterns'] as const) {
    const globs = fields.getTexts(key)
    if (globs === null) continue
    constraint[key] = globs
    checkGlobs(reading, globs)
  }
  for (const key of ['allowed_commands', 'forbidden_commands'] as const) {
    const commands = fields.getTexts(key)
    if (commands !== null) constraint[key] = commands
  }
  if (fields.has('network')) constraint.network = fields.getFlag('network', false)
  if (fields.has('timeout_seconds')) constraint.timeout_seconds = fields.getPositive('timeout_seconds', 60)
  refuseMisplaced(fields, tool)
  return reading.made(constraint, node)
}

const SHELL_ONLY = ['allowed_commands', 'forbidden_commands']
const PATHS_ONLY = ['allowed_patterns', 'forbidden_patterns']
const WITHOUT_PATHS = new Set([
  'bash',
  'run_tests',
  'git_status',
  'git_log',
  'git_commit',
  'ask_user_question',
  'request_setup_change',
  'web_fetch',
])

function refuseMisplaced(fields: Fields, tool: string): void {
  for (const key of tool === 'bash' ? [] : SHELL_ONLY) {
    if (fields.has(key))
      fields.reportBad(key, 'contract.invalid_value', `Only bash takes '${key}'.`, 'Move it under bash.')
  }
  for (const key of WITHOUT_PATHS.has(tool) ? PATHS_ONLY : []) {
    if (!fields.has(key)) continue
    const remedy = "Use the phase's writable to say what commands may change."
    fields.reportBad(key, 'contract.invalid_value', `The tool ${tool} has no path to hold against '${key}'.`, remedy)
  }
}

function checkGlobs(reading: Reading, globs: readonly string[]): void {
  for (const [index, glob] of globs.entries()) {
    const problem = findGlobProblem(glob)
    if (problem === null) continue
    reading.report({
      ...reading.locateReport(globs, index, 'contract.invalid_value'),
      message: `The pattern '${glob}' is refused: ${problem}.`,
    })
  }
}

function readArtifacts(reading: Reading, list: ListNode): ArtifactDocument[] {
  const artifacts = list.items.flatMap((item) => {
    const fields = Fields.openFields(reading, item, ['type', 'schema', 'description', 'validation'])
    if (fields === null) return []
    const type = readArtifactType(fields)
    const validation = fields.list('validation')
    const artifact: ArtifactDocument = {
      type,
      description: fields.getText('description'),
      validation: validation === null ? [] : readValidation(reading, validation, type),
    }
    if (fields.has('schema')) artifact.schema = fields.needText('schema', 'schemas/plan.json')
    return [reading.made(artifact, item)]
  })
  reportTwice(reading, artifacts)
  return reading.made(artifacts, list)
}

function readArtifactType(fields: Fields): string {
  const type = fields.needText('type', 'plan_document')
  if (type !== '' && !/^[A-Za-z0-9_.-]{1,64}$/.test(type)) {
    fields.reportBad('type', 'contract.invalid_id', `The artifact type '${type.slice(0, 80)}' is not accepted.`)
  }
  return type
}

function reportTwice(reading: Reading, artifacts: readonly ArtifactDocument[]): void {
  const seen = new Set<string>()
  for (const artifact of artifacts) {
    if (seen.has(artifact.type)) {
      const message = `The artifact '${artifact.type}' is required twice in this phase.`
      reading.report({ ...reading.locateReport(artifact, 'type', 'contract.duplicate_id'), message })
    }
    seen.add(artifact.type)
  }
}

// A rule about reviews says who must review through the gate beside it; without one it asks that there are reviews.
function completeReviewRules(phase: PhaseDocument): void {
  const demanded = phase.gates.flatMap((gate) => gate.blockers.flatMap((blocker) => blocker.required_reviews ?? []))
  for (const artifact of phase.required_artifacts) {
    for (const validation of artifact.validation) {
      if (validation.rule !== 'all_review_models_completed' || validation.required_reviews !== undefined) continue
      if (demanded.length > 0) validation.required_reviews = [...new Set(demanded)]
      else {
        validation.rule = 'expression'
        validation.when = `"reviews" in artifacts.${artifact.type} && size(artifacts.${artifact.type}.reviews) > 0`
      }
    }
  }
}
