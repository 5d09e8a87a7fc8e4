import { readFileSync } from 'node:fs'
import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { type BundledContract, findBundledContract } from '../../contract/bundled-contracts.js'
import { plainLine } from '../../core/plain-text.js'
import type { CoverageCommand } from './coverage-commands.js'
import type { Step } from './project.js'

/** What `init` found out about the tests of a repository. */
export interface FoundTests {
  readonly project: string
  readonly language: string
  /** Null: keep the command of the bundled contract. */
  readonly command: string | null
  readonly timeoutSeconds: number | null
  readonly patterns: readonly string[]
  readonly mayWrite: readonly string[]
  /** Commands that must succeed at GREEN besides the tests. */
  readonly steps: readonly Step[]
  /** Null: nothing is known that measures coverage, and no gate asks for it. */
  readonly coverage: CoverageCommand | null
}

/** The bundled contract adapted to this repository: its test command and test patterns. */
export function buildContract(found: FoundTests, template: Exclude<BundledContract, 'test-generation'>): string {
  const document = parseDocument(
    readFileSync(findBundledContract(template), 'utf8').replace(/^# yaml-language-server.*\n/, ''),
  )
  document.commentBefore = [
    ` The contract of ${plainLine(found.project)}: which steps an agent takes, and what opens the way to the next.`,
    ' Check it with `phaselock validate`, see what was understood with `phaselock explain`.',
    ' While a server runs, editors find its schema at http://localhost:8000/schemas/agent_workflow.schema.json',
  ].join('\n')
  const runsTests = document.hasIn(['commands', 'tests', 'run'])
  if (runsTests) setTests(document, found)
  if (document.hasIn(['commands', 'coverage'])) setCoverage(document, found.coverage)
  const phases = document.get('phases')
  for (const phase of isSeq(phases) ? phases.items : []) {
    if (!isMap(phase)) continue
    if (runsTests) fitPhase(phase, document, found)
    reviewByOther(phase, document)
  }
  return document.toString({ lineWidth: 118 })
}

function setTests(document: Document, { command, timeoutSeconds, patterns, mayWrite, steps }: FoundTests): void {
  if (command !== null) document.setIn(['commands', 'tests', 'run'], command)
  if (timeoutSeconds !== null) document.setIn(['commands', 'tests', 'timeout_seconds'], timeoutSeconds)
  for (const { name, run } of steps)
    document.setIn(['commands', name], document.createNode({ run, timeout_seconds: 600 }, { flow: true }))
  const before = document.get('tests')
  const kept = isMap(before) ? (before.toJSON() as Record<string, unknown>) : {}
  const tests = document.createNode({ ...kept, patterns, ...(mayWrite.length === 0 ? {} : { may_write: mayWrite }) })
  tests.commentBefore = ' The files that are tests. Phases name them with "@tests"; RED records them.'
  document.set('tests', tests)
}

function setCoverage(document: Document, coverage: CoverageCommand | null): void {
  if (coverage !== null) {
    const { run, report } = coverage
    const node = { run, format: 'lcov', ...(report === null ? {} : { report }), timeout_seconds: 600 }
    document.setIn(['commands', 'coverage'], document.createNode(node, { flow: true }))
    return
  }
  document.deleteIn(['commands', 'coverage'])
  for (const blockers of listBlockers(document))
    blockers.items = blockers.items.filter((one) => !isMap(one) || one.get('check') !== 'coverage_not_lower')
}

function listBlockers(document: Document): readonly YAMLSeq[] {
  const phases = document.get('phases')
  const gates = (isSeq(phases) ? phases.items : []).flatMap((phase) => {
    const list = isMap(phase) ? phase.get('gates') : null
    return isSeq(list) ? list.items : []
  })
  return gates.flatMap((gate) => {
    const blockers = isMap(gate) ? gate.get('blockers') : null
    return isSeq(blockers) ? [blockers] : []
  })
}

// The bundled contracts list possible test folders; this repository's own patterns replace that list.
function fitPhase(phase: YAMLMap, document: Document, { command, language, steps }: FoundTests): void {
  if (!offersTool(phase, 'run_tests')) return
  const prompt = phase.get('prompt', true)
  if (command !== null && isScalar(prompt)) prompt.value = `${String(prompt.value)}The tests are run with: ${command}\n`
  if (!offersTool(phase, 'write_files')) return
  const isTdd = phase.get('id') === 'TDD'
  if (isTdd && language === 'Rust' && isScalar(prompt)) prompt.value = `${String(prompt.value)}${RUST_TESTS}`
  const place = ['tool_constraints', 'write_files', isTdd ? 'allowed_patterns' : 'forbidden_patterns']
  const listed = phase.getIn(place)
  if (isSeq(listed) && listed.items.some((one) => isScalar(one) && one.value === '**/*.test.*'))
    phase.setIn(place, document.createNode([...(isTdd ? [] : KEPT_PATHS), '@tests'], { flow: true }))
  const gates = phase.get('gates')
  for (const gate of isSeq(gates) ? gates.items : []) {
    const blockers = isMap(gate) ? gate.get('blockers') : null
    if (!isSeq(blockers) || !GREEN_CHECKS.some((check) => hasCheck(blockers, check))) continue
    for (const { name, run } of steps)
      blockers.add(
        document.createNode(
          { check: 'command_succeeds', command: name, severity: 'blocking', message: `\`${run}\` must succeed` },
          { flow: true },
        ),
      )
  }
}

const GREEN_CHECKS = ['all_tests_pass', 'tests_not_worse']

function offersTool(phase: YAMLMap, tool: string): boolean {
  const [allowed, forbidden] = [phase.get('allowed_tools'), phase.get('forbidden_tools')]
  const has = (list: unknown): boolean => isSeq(list) && list.items.some((one) => isScalar(one) && one.value === tool)
  return has(allowed) && !has(forbidden)
}

const RUST_TESTS =
  'New tests go to files below tests/ and call what the crate exports. Tests inside of sources stay as they are.\n'

const KEPT_PATHS = ['.git/**', 'node_modules/**', '.env*']

function hasCheck(blockers: { readonly items: readonly unknown[] }, check: string): boolean {
  return blockers.items.some((blocker) => isMap(blocker) && blocker.get('check') === check)
}

// The author of the work does not review it: a person approves, unless reviewers are named later.
function reviewByOther(phase: YAMLMap, document: Document): void {
  const artifacts = phase.get('required_artifacts')
  const hasReport =
    isSeq(artifacts) && artifacts.items.some((item) => isMap(item) && item.get('type') === 'review_report')
  if (!hasReport || phase.has('review')) return
  phase.set('review', document.createNode({ by: 'other' }, { flow: true }))
  const prompt = phase.get('prompt', true)
  if (isScalar(prompt)) prompt.value = `${String(prompt.value)}${REVIEWED_BY_OTHER}`
}

const REVIEWED_BY_OTHER = 'Your own report does not open the gate: somebody else looks at the change and approves it.\n'
