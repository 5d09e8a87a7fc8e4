import { CHECK_ARTIFACTS, CHECKS_OF_TEST_RUN } from '../../core/contract/check-artifacts.js'
import type { CheckName } from '../../core/contract/contract.js'
import type { BlockerDocument, ContractDocument, PhaseDocument, ValidationDocument } from '../document.js'
import { readExpression } from '../expression.js'
import { formatDidYouMean } from '../nearest.js'
import type { Reading } from '../read/reading.js'
import { isFinal, listPhasesUpTo } from './check-graph.js'
import { isPathsOnly } from './test-files-schema.js'

/** Gates: named by existing transitions, with checks that have something to read. */
export function checkGates(reading: Reading, document: ContractDocument): void {
  for (const phase of document.phases) {
    checkGateIds(reading, phase)
    const available = listArtifactsUpTo(document, phase)
    for (const { owner, check } of listChecks(phase)) {
      checkArtifacts(reading, document, { owner, check, available })
      if (check === 'tests_exist_for_acceptance_criteria') checkCovers(reading, document, owner)
      checkExpression(reading, owner, check, available)
      checkCommand(reading, document, owner)
    }
    checkUse(reading, document, phase)
  }
  checkTransitionGates(reading, document)
  checkInverted(reading, document)
}

function checkInverted(reading: Reading, { tests, phases }: ContractDocument): void {
  if (tests.inverted === undefined) return
  if (phases.some((phase) => listChecks(phase).some(({ check }) => check === 'tests_can_fail'))) return
  reading.reportAt(
    'contract.unused_setting',
    [tests, 'inverted'],
    'No gate has the check tests_can_fail, so there is no inverted run to set up.',
    'Add tests_can_fail to the gate with all_tests_pass, or remove tests.inverted.',
  )
}

type Owner = BlockerDocument | ValidationDocument

/** Every check of a phase, in gates and in its artifacts' validation. */
export function listChecks(phase: PhaseDocument): { owner: Owner; check: CheckName }[] {
  return [
    ...phase.required_artifacts.flatMap((artifact) =>
      artifact.validation.map((rule) => ({ owner: rule, check: rule.rule })),
    ),
    ...phase.gates.flatMap((gate) => gate.blockers.map((blocker) => ({ owner: blocker, check: blocker.check }))),
  ]
}

/** The artifact types that this phase or one before it demands. */
export function listArtifactsUpTo(document: ContractDocument, phase: PhaseDocument): ReadonlySet<string> {
  const before = listPhasesUpTo(document, phase.id)
  const phases = document.phases.filter((candidate) => before.has(candidate.id))
  return new Set(phases.flatMap((candidate) => candidate.required_artifacts.map((artifact) => artifact.type)))
}

function checkGateIds(reading: Reading, phase: PhaseDocument): void {
  const seen = new Set<string>()
  for (const gate of phase.gates) {
    if (seen.has(gate.id) && gate.id !== '') {
      reading.reportAt(
        'contract.duplicate_id',
        [gate, 'id'],
        `The gate id '${gate.id}' is used twice in '${phase.id}'.`,
      )
    }
    seen.add(gate.id)
  }
}

// Criteria cannot be matched to their own tests if an entry is only a path.
function checkCovers(reading: Reading, document: ContractDocument, owner: Owner): void {
  const artifacts = document.phases.flatMap((phase) => phase.required_artifacts)
  const names = artifacts
    .filter((artifact) => artifact.type === 'test_files')
    .map((artifact) => artifact.schema ?? null)
  if (!isPathsOnly(new Map(Object.entries(document.schemas)), names)) return
  reading.report({
    code: 'contract.effect_differs',
    at: reading.place(owner),
    message:
      'The schema of test_files accepts only paths, so all named test files count for every acceptance criterion.',
    remedy: 'To have each criterion checked, let the schema take {path, covers} objects.',
  })
}

interface CheckSite {
  readonly owner: Owner
  readonly check: CheckName
  readonly available: ReadonlySet<string>
}

function checkArtifacts(reading: Reading, document: ContractDocument, { owner, check, available }: CheckSite): void {
  const types = CHECK_ARTIFACTS.get(check)
  if (types === undefined || types.some((type) => available.has(type))) return
  if (CHECKS_OF_TEST_RUN.has(check) && document.commands !== undefined && Object.hasOwn(document.commands, 'tests'))
    return
  reading.reportAt(
    'contract.missing_artifact_for_check',
    [owner, 'rule' in owner ? 'rule' : 'check'],
    `The check ${check} reads ${types.join(' or ')}, which no phase up to here requires.`,
    `Add {type: ${types[0] ?? ''}} to required_artifacts of this phase or an earlier one.`,
  )
}

function checkExpression(reading: Reading, owner: Owner, check: CheckName, available: ReadonlySet<string>): void {
  if (check !== 'expression' || owner.when === undefined || owner.when === '') return
  const expression = readExpression(owner.when)
  if (!expression.ok) {
    const message = `The expression is refused: ${expression.reason}.`
    reading.reportAt('contract.invalid_expression', [owner, 'when'], message)
    return
  }
  for (const type of expression.artifacts) {
    if (available.has(type)) continue
    const message = `The expression reads the artifact '${type}', which no phase up to here requires.`
    reading.reportAt('contract.missing_artifact_for_check', [owner, 'when'], message)
  }
}

function checkCommand(reading: Reading, document: ContractDocument, owner: Owner): void {
  if (owner.command === undefined || owner.command === '') return
  const names = Object.keys(document.commands ?? {})
  if (names.includes(owner.command)) return
  const message = `The command '${owner.command}' is not defined.`
  const remedy = `${formatDidYouMean(owner.command, names)}Known commands: ${names.length === 0 ? 'none' : names.join(', ')}.`
  reading.reportAt('contract.unknown_command', [owner, 'command'], message, remedy)
}

/** Reports gates that no transition uses. */
function checkUse(reading: Reading, document: ContractDocument, phase: PhaseDocument): void {
  if (isFinal(phase, document.transitions)) return
  const order = new Map(document.phases.map((candidate, index) => [candidate.id, index]))
  const outgoing = document.transitions.filter((transition) => transition.from === phase.id)
  // A claimed way back to an earlier phase needs only its claim, so it does not count as using the gates.
  const isHeldByAll = outgoing.some(
    ({ gate, when, to }) =>
      gate === undefined &&
      (when === undefined || (order.get(to) ?? 0) > (order.get(phase.id) ?? 0) || isFinalId(document, to)),
  )
  if (isHeldByAll) return
  for (const gate of phase.gates) {
    if (gate.id === '' || outgoing.some((transition) => transition.gate === gate.id)) continue
    reading.reportAt('contract.unused_gate', [gate, 'id'], `No transition uses the gate '${gate.id}'.`)
  }
}

function checkTransitionGates(reading: Reading, document: ContractDocument): void {
  for (const transition of document.transitions) {
    const phase = document.phases.find((candidate) => candidate.id === transition.from)
    if (transition.gate === undefined || transition.gate === '' || phase === undefined) continue
    const ids = phase.gates.map((gate) => gate.id)
    if (ids.includes(transition.gate)) continue
    reading.reportAt(
      'contract.unknown_gate',
      [transition, 'gate'],
      `The phase '${phase.id}' has no gate '${transition.gate}'.`,
      `${formatDidYouMean(transition.gate, ids)}Its gates: ${ids.length === 0 ? 'none' : ids.join(', ')}.`,
    )
  }
}

// Nothing leads out of a final phase, so nothing leads back to it either.
function isFinalId(document: ContractDocument, id: string): boolean {
  return document.transitions.every((transition) => transition.from !== id)
}
