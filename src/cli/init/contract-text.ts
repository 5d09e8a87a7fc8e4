import { readFileSync } from 'node:fs'
import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { findBundledContract } from '../../contract/bundled-contracts.js'
import { plainLine } from '../../core/plain-text.js'
import {
  type FoundTests,
  hasReviewReport,
  listGreenGates,
  makeStepBlocker,
  offersTool,
  REVIEWED_BY_OTHER,
  RUST_TESTS,
} from './found-tests.js'
import { buildShortContract } from './short-contract.js'

/** The bundled contract adapted to this repository. With a preset that fits, only what differs is written. */
export function buildContract(found: FoundTests, template: string): string {
  const text = readFileSync(findBundledContract(template), 'utf8').replace(/^# yaml-language-server.*\n/, '')
  const { preset } = found
  const body =
    preset !== null && template === SHORT_TEMPLATE
      ? buildShortContract(found, { template, text, preset })
      : buildLongContract(found, text)
  return `${formatHead(found)}\n${body}`
}

/** The workflow whose test files are all named with `@tests`, so that those of a preset count. */
const SHORT_TEMPLATE = 'tdd'

function formatHead({ project }: FoundTests): string {
  return [
    `# The contract of ${plainLine(project)}: which steps an agent takes, and what opens the way to the next.`,
    '# Check it with `phaselock validate`, see what was understood with `phaselock explain`.',
    '# While a server runs, editors find its schema at its address, below /schemas/agent_workflow.schema.json',
    '',
  ].join('\n')
}

function buildLongContract(found: FoundTests, text: string): string {
  const document = parseDocument(text)
  const runsTests = document.hasIn(['commands', 'tests', 'run'])
  if (runsTests) setTests(document, found)
  if (document.hasIn(['commands', 'coverage'])) setCoverage(document, found)
  const phases = document.get('phases')
  for (const phase of isSeq(phases) ? phases.items : []) {
    if (!isMap(phase)) continue
    if (runsTests) fitPhase(phase, document, found)
    reviewByOther(phase, document)
  }
  return document.toString({ lineWidth: 118 })
}

function setTests(
  document: Document,
  { command, timeoutSeconds, patterns, mayWrite, steps, reportFile, allowsSigusr1 }: FoundTests,
): void {
  if (command !== null) document.setIn(['commands', 'tests', 'run'], command)
  for (const [name, value] of Object.entries(reportFile ?? {})) document.setIn(['commands', 'tests', name], value)
  if (timeoutSeconds !== null) document.setIn(['commands', 'tests', 'timeout_seconds'], timeoutSeconds)
  if (allowsSigusr1 === true) document.setIn(['commands', 'tests', 'sigusr1'], 'allow')
  for (const { name, run } of steps)
    document.setIn(['commands', name], document.createNode({ run, timeout_seconds: 600 }, { flow: true }))
  const before = document.get('tests')
  const kept = isMap(before) ? (before.toJSON() as Record<string, unknown>) : {}
  const tests = document.createNode({ ...kept, patterns, ...(mayWrite.length === 0 ? {} : { may_write: mayWrite }) })
  document.set('tests', tests)
}

function setCoverage(document: Document, { coverage, allowsSigusr1 }: FoundTests): void {
  if (coverage !== null) {
    const { run, report } = coverage
    const node = {
      ...{ run, format: 'lcov', ...(report === null ? {} : { report }), timeout_seconds: 600 },
      ...(allowsSigusr1 === true ? { sigusr1: 'allow' } : {}),
    }
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
  for (const gate of listGreenGates(phase)) {
    const blockers = gate.get('blockers')
    if (!isSeq(blockers)) continue
    for (const step of steps) blockers.add(document.createNode(makeStepBlocker(step), { flow: true }))
  }
}

const KEPT_PATHS = ['.git/**', 'node_modules/**', '.env*']

// The author of the work does not review it: a person approves, unless reviewers are named later.
function reviewByOther(phase: YAMLMap, document: Document): void {
  if (!hasReviewReport(phase)) return
  phase.set('review', document.createNode({ by: 'other' }, { flow: true }))
  const prompt = phase.get('prompt', true)
  if (isScalar(prompt)) prompt.value = `${String(prompt.value)}${REVIEWED_BY_OTHER}`
}
