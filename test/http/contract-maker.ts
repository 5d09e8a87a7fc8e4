import fc from 'fast-check'
import { GREEN, PLAN, RED } from './harness.js'
import { VOTERS } from './voting.js'

type Members = Readonly<Record<string, unknown>>

/** Something that a phase asks for, and what an honest agent does and hands in for it. */
interface Part {
  readonly artifacts?: readonly (Members & { readonly type: string; readonly validation?: readonly Members[] })[]
  readonly blockers?: readonly Members[]
  readonly evidence?: Members
  readonly hands?: Members
  readonly given?: Members
  readonly writes?: Readonly<Record<string, string>>
  readonly commits?: boolean
  readonly reviewer?: string
}

/** What a part can rely on. */
interface Scene {
  readonly id: string
  /** Phaselock runs the tests itself. */
  readonly observed: boolean
  readonly tests: 'none' | 'red' | 'green'
  readonly hadRed: boolean
  readonly hadPlan: boolean
}

const TEST_FILE = 'tests/add.test.mjs'
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from '../src/add.mjs'
test('adds', () => assert.equal(add(2, 3), 5))
`
const WRONG = { [TEST_FILE]: TEST, 'src/add.mjs': 'export const add = () => 0\n' }
const RIGHT = { [TEST_FILE]: TEST, 'src/add.mjs': 'export const add = (a, b) => a + b\n' }

const expression = (when: string) => ({ check: 'expression', when })
const checks = (...names: readonly string[]) => names.map((check) => ({ check }))
const NO_PART: Part = {}

/** The parts that a script can satisfy, with every check of the table among them. */
export const PARTS: Readonly<Record<string, (scene: Scene) => Part>> = {
  plan: () => ({
    artifacts: [
      { type: 'plan_document', schema: 'schemas/plan.json', validation: [{ rule: 'has_acceptance_criteria' }] },
    ],
    blockers: [
      ...checks('plan_has_acceptance_criteria', 'scope_is_bounded', 'no_open_questions'),
      expression('size(artifacts.plan_document.acceptance_criteria) == 1'),
    ],
    hands: { plan_document: PLAN },
  }),
  planBefore: ({ hadPlan }) =>
    hadPlan
      ? { blockers: [...checks('scope_is_bounded', 'examples_hold'), expression('"title" in artifacts.plan_document')] }
      : NO_PART,
  scope: () => ({
    artifacts: [{ type: 'scope_definition', schema: 'schemas/scope.json', validation: [{ rule: 'has_in_scope' }] }],
    blockers: checks('scope_is_bounded'),
    hands: { scope_definition: { in_scope: ['adding'], out_of_scope: ['the rest'] } },
  }),
  testFiles: () => ({
    artifacts: [{ type: 'test_files', schema: 'schemas/tests.json', validation: [{ rule: 'tests_exist' }] }],
    blockers: checks('tests_exist_for_acceptance_criteria', 'tests_are_meaningful', 'test_files_follow_convention'),
    hands: { test_files: { test_files: [{ path: TEST_FILE, covers: ['AC1'] }] } },
    writes: { [TEST_FILE]: TEST },
  }),
  run: ({ tests, observed, hadRed }) => {
    if (tests === 'none') return NO_PART
    const isRed = tests === 'red'
    const result = { type: 'test_run_result', schema: 'schemas/test_result.json' }
    const validation = [{ rule: 'tests_were_run' }, { rule: isRed ? 'tests_failed' : 'tests_passed' }]
    return {
      artifacts: [{ ...result, validation }],
      blockers: [
        ...(isRed ? checks('tests_are_failing') : checks('all_tests_pass', 'no_skipped_tests')),
        ...(hadRed && !isRed ? checks('tests_unchanged') : []),
        ...(observed && !isRed ? checks('tests_can_fail') : []),
        ...(observed ? [expression(`observed.tests.exit_code ${isRed ? '!=' : '=='} 0`)] : []),
      ],
      ...(observed ? {} : { hands: { test_run_result: isRed ? RED : GREEN } }),
      writes: isRed ? WRONG : RIGHT,
    }
  },
  coverage: () => ({ blockers: [{ check: 'coverage_threshold_met', threshold: 80 }] }),
  commands: () => ({
    blockers: [
      { check: 'command_succeeds', run: 'true' },
      { check: 'command_succeeds', command: 'lint' },
      expression('observed.lint.exit_code == 0'),
    ],
  }),
  files: ({ id }) => ({
    blockers: [
      { check: 'file_exists', path: `notes/${id}.json` },
      { check: 'json_valid', path: `notes/${id}.json` },
      { check: 'no_pattern', pattern: 'FORBIDDEN', paths: ['notes/**'] },
    ],
    writes: { [`notes/${id}.json`]: `{"phase": "${id}"}` },
  }),
  git: () => ({ blockers: checks('work_tree_clean', 'committed', 'no_commented_out_code'), commits: true }),
  ownReview: () => ({
    artifacts: [{ type: 'review_report', schema: 'schemas/review.json' }],
    blockers: checks('no_blocking_issues', 'review_comments_addressed'),
    hands: { review_report: { reviews: { me: { status: 'completed' } }, blocking_issues: [] } },
  }),
  reviewer: () => ({
    artifacts: [{ type: 'review_report', schema: 'schemas/review.json' }],
    blockers: [
      { check: 'all_review_models_completed', required_reviews: ['security'] },
      ...checks('no_blocking_issues'),
    ],
    reviewer: 'security',
  }),
  implementation: () => ({
    artifacts: [
      {
        type: 'implementation_files',
        schema: 'schemas/implementation.json',
        validation: [{ rule: 'implementation_exists' }],
      },
    ],
    hands: {
      implementation_files: { files_changed: [{ path: 'src/add.mjs', change_type: 'created' }], summary: 'Adds' },
    },
  }),
  summary: () => ({
    artifacts: [
      { type: 'completion_summary', schema: 'schemas/completion.json', validation: [{ rule: 'has_summary' }] },
    ],
    hands: { completion_summary: { summary: 'It adds', files_changed: ['src/add.mjs'] } },
  }),
  ownSchema: () => ({
    artifacts: [{ type: 'note', schema: 'note.json' }],
    blockers: [expression('artifacts.note.lines > 2 && size(task.title) > 0')],
    hands: { note: { lines: 3 } },
  }),
  checkpoint: ({ id, tests, observed }) => ({
    evidence: {
      count: { type: 'integer', min: 1, max: 9 },
      level: { type: 'string', enum: ['low', 'high'], pattern: '^h' },
      done: { type: 'boolean' },
      report: { type: 'string', grade: 'artifact' },
      ...(observed && tests === 'green' ? { tests_passed: { type: 'integer', grade: 'observed', min: 1 } } : {}),
      ...(observed && tests === 'red'
        ? { tests_succeeded: { type: 'boolean', grade: 'observed', must_be: false } }
        : {}),
    },
    blockers: [expression('evidence.count > 2 && size(changes) > 0')],
    given: { count: 3, level: 'high', done: true, report: `notes/${id}.md` },
    writes: { [`notes/${id}.md`]: `What was done in ${id}\n` },
  }),
}

/**
 * Checks that hold only in a workflow made for them, because they compare with the start of the task or with what was
 * handed in. `e2e/workflows` completes each.
 */
export const IN_WORKFLOWS: readonly string[] = [
  ...['tests_as_at_start', 'tests_not_worse', 'coverage_not_lower', 'test_files_load', 'quotes_hold'],
]

/** Checks that may contradict the rest, or that nothing fills: the contract is refused, or it can be completed all the same. */
export const WILD: readonly Part[] = [
  { blockers: checks('tests_unchanged') },
  { blockers: checks('all_tests_pass'), writes: RIGHT },
  { blockers: checks('tests_are_failing'), writes: WRONG },
  { blockers: [{ check: 'command_succeeds', command: 'tests' }], writes: RIGHT },
  { blockers: checks('plan_has_acceptance_criteria') },
  { blockers: checks('no_blocking_issues') },
  { blockers: [{ check: 'all_review_models_completed', required_reviews: ['human'] }] },
  { blockers: [expression('1 > 2')] },
  { blockers: [expression('evidence.count > 2')] },
  { blockers: [expression('observed.tests.tests_total >= 0')] },
  { blockers: [expression('artifacts.note.owner == "me"')] },
]

export interface MadePhase {
  readonly id: string
  readonly hands: Members
  readonly given: Members
  readonly writes: Readonly<Record<string, string>>
  readonly commits: boolean
  readonly reviewers: readonly string[]
  /** The claim that the way on needs. */
  readonly claim: string | null
}

export interface MadeContract {
  readonly source: string
  readonly phases: readonly MadePhase[]
  readonly isWild: boolean
}

const phaseArbitrary = fc.record({
  parts: fc.subarray(Object.keys(PARTS), { maxLength: 4 }),
  tests: fc.constantFrom('none' as const, 'red' as const, 'green' as const),
  approval: fc.constantFrom(null, null, 'human', 'orchestrator'),
  isVotedOn: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
  isSplit: fc.boolean(),
  hasClaim: fc.boolean(),
  wild: fc.oneof(
    { weight: 8, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.record({ part: fc.constantFrom(...WILD), severity: fc.constantFrom('blocking', 'warning') }),
    },
  ),
})
type PhaseChoice = typeof phaseArbitrary extends fc.Arbitrary<infer T> ? T : never

/** Contracts of two to four phases, of parts that a script can satisfy, and now and then of one that it may not. */
export const contractArbitrary: fc.Arbitrary<MadeContract> = fc
  .record({
    choices: fc.array(phaseArbitrary, { minLength: 2, maxLength: 4 }),
    observed: fc.integer({ min: 0, max: 2 }).map((one) => one === 0),
    hasWayBack: fc.boolean(),
  })
  .map(({ choices, observed, hasWayBack }) => made(choices, observed, hasWayBack))

function made(choices: readonly PhaseChoice[], observed: boolean, hasWayBack: boolean): MadeContract {
  const phases: MadePhase[] = []
  const documents: Members[] = []
  const transitions: Members[] = []
  let [hadRed, hadPlan] = [false, false]
  for (const [index, choice] of choices.entries()) {
    const id = `P${index}`
    const scene: Scene = { id, observed, tests: choice.tests, hadRed, hadPlan }
    const names = choice.tests === 'none' ? choice.parts : [...new Set(['run', ...choice.parts])]
    const parts = [...names.map((name) => PARTS[name]?.(scene) ?? NO_PART), ...wildPart(choice)]
    hadRed ||= choice.tests === 'red'
    hadPlan ||= choice.parts.includes('plan')
    documents.push(documentOf(id, choice, parts))
    const isLast = index === choices.length - 1
    const claim = choice.hasClaim && !isLast ? `ready_${id}` : null
    if (!isLast) transitions.push({ from: id, to: `P${index + 1}`, ...(claim === null ? {} : { when: claim }) })
    phases.push({
      ...{ id, claim },
      hands: Object.assign({}, ...parts.map((part) => part.hands ?? {})),
      given: Object.assign({}, ...parts.map((part) => part.given ?? {})),
      writes: Object.assign({}, ...parts.map((part) => part.writes ?? {})),
      commits: parts.some((part) => part.commits === true),
      reviewers: parts.flatMap((part) => part.reviewer ?? []),
    })
  }
  if (hasWayBack && choices.length > 2) transitions.push({ from: 'P1', to: 'P0', when: 'again' })
  const contract = {
    name: 'made',
    version: '1',
    phases: documents,
    transitions,
    commands: {
      ...(observed ? { tests: { run: 'node --test tests/', format: 'node' } } : {}),
      coverage: { run: 'printf "SF:a\\nDA:1,1\\nend_of_record\\n"', format: 'lcov' },
      lint: { run: 'test -d .git' },
    },
    schemas: {
      'note.json': { type: 'object', properties: { lines: { type: 'integer' } }, additionalProperties: false },
    },
  }
  return { source: JSON.stringify(contract, null, 1), phases, isWild: choices.some((choice) => choice.wild !== null) }
}

// Nothing is done for a check that only warns.
function wildPart({ wild }: PhaseChoice): readonly Part[] {
  if (wild === null) return []
  const blockers = (wild.part.blockers ?? []).map((one) => ({ ...one, severity: wild.severity }))
  return [wild.severity === 'blocking' ? { ...wild.part, blockers } : { blockers }]
}

function documentOf(id: string, choice: PhaseChoice, parts: readonly Part[]): Members {
  const { approval } = choice
  const blockers = parts.flatMap((part) => part.blockers ?? [])
  const half = choice.isSplit ? Math.ceil(blockers.length / 2) : blockers.length
  const gates = [blockers.slice(0, half), blockers.slice(half)].filter((some) => some.length > 0)
  const evidence: Members = Object.assign({}, ...parts.map((part) => part.evidence ?? {}))
  const hasEvidence = Object.keys(evidence).length > 0
  return {
    id,
    allowed_tools: ['read_files', 'write_files', 'git_commit'],
    required_artifacts: artifactsOf(parts),
    ...(hasEvidence ? { checkpoint: { evidence }, min_verified: 1 } : {}),
    ...(choice.isVotedOn ? { consensus: { agents: VOTERS, question: 'Ready?', quorum: 2 } } : {}),
    gates: [
      ...gates.map((some, index) => ({ id: `${id}-checks-${index}`, type: 'validation', blockers: some })),
      ...(approval === null ? [] : [{ id: `${id}-approval`, type: 'approval', approvers: [approval] }]),
    ],
  }
}

// Two parts may ask for one artifact: then it is asked for once, with the rules of both.
function artifactsOf(parts: readonly Part[]): readonly Members[] {
  const byType = new Map<string, Members & { readonly validation: readonly Members[] }>()
  for (const artifact of parts.flatMap((part) => part.artifacts ?? [])) {
    const validation = [...(byType.get(artifact.type)?.validation ?? []), ...(artifact.validation ?? [])]
    byType.set(artifact.type, { ...artifact, validation })
  }
  return [...byType.values()]
}
