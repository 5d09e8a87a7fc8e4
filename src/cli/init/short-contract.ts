import { Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { BUNDLED_PREFIX } from '../../contract/bundled-contracts.js'
import type { Preset } from './choose-preset.js'
import {
  type FoundTests,
  hasReviewReport,
  listGreenGates,
  makeStepBlocker,
  offersTool,
  REVIEWED_BY_OTHER,
  RUST_TESTS,
} from './found-tests.js'
import type { ReportFile } from './project.js'

/** At the start of a text: the text of the base. In a list: the entries of the base. */
const BASE = '...'

const ABOUT = ` "${BASE}" stands for what the extended contract has there; phaselock explain shows the whole.`

/** `name`, `version` and `extends`. */
const HEAD_FIELDS = 3

/** A contract that extends the bundled one and the preset of the runner: only what differs is written. */
export function buildShortContract(
  found: FoundTests,
  { template, text, preset }: { readonly template: string; readonly text: string; readonly preset: Preset },
): string {
  const bundled = parseDocument(text)
  const document = new Document({
    name: bundled.get('name'),
    version: bundled.get('version'),
    extends: [`${BUNDLED_PREFIX}${template}`, preset.name],
    ...listTests(found, preset),
    commands: listCommands(found, preset, bundled),
    phases: listPhases(found, bundled),
  })
  document.commentBefore = ABOUT
  setFlow(document, ['extends'])
  for (const name of ['tests', ...found.steps.map((step) => step.name)]) setFlow(document, ['commands', name])
  const parts = isMap(document.contents) ? document.contents.items.slice(HEAD_FIELDS) : []
  for (const { key } of parts) if (isScalar(key)) key.spaceBefore = true
  return document.toString({ lineWidth: 118 })
}

function setFlow(document: Document, path: readonly string[]): void {
  const node = document.getIn(path)
  if (isMap(node) || isSeq(node)) node.flow = true
}

// The other patterns of the preset are usual places of tests, so they may stay.
function listTests({ patterns, mayWrite }: FoundTests, preset: Preset) {
  const isCovered = patterns.every((pattern) => preset.patterns.includes(pattern))
  const tests = {
    ...(isCovered ? {} : { patterns }),
    ...(mayWrite.length === 0 ? {} : { may_write: mayWrite }),
  }
  return Object.keys(tests).length === 0 ? {} : { tests }
}

function listCommands(found: FoundTests, preset: Preset, bundled: Document) {
  const { command, timeoutSeconds, steps, reportFile, allowsSigusr1 } = found
  const timeout_seconds = timeoutSeconds ?? bundled.getIn(['commands', 'tests', 'timeout_seconds']) ?? 600
  const written = Object.entries(reportFile ?? {}).filter(
    ([name, value]) => value !== preset.reportFile[name as keyof ReportFile],
  )
  const tests = {
    ...(command === null ? {} : { run: command }),
    ...Object.fromEntries(written),
    timeout_seconds,
    ...(allowsSigusr1 === true ? { sigusr1: 'allow' } : {}),
  }
  return { tests, ...Object.fromEntries(steps.map(({ name, run }) => [name, { run, timeout_seconds: 600 }])) }
}

function listPhases(found: FoundTests, bundled: Document) {
  const phases = bundled.get('phases')
  const changed = (isSeq(phases) ? phases.items : []).flatMap((phase) => {
    const change = isMap(phase) ? changePhase(phase, found) : {}
    return isMap(phase) && Object.keys(change).length > 0 ? [[String(phase.get('id')), change] as const] : []
  })
  return Object.fromEntries(changed)
}

function changePhase(phase: YAMLMap, { command, language, steps }: FoundTests) {
  const isReviewed = hasReviewReport(phase)
  const runsTests = command !== null && offersTool(phase, 'run_tests')
  const words = [
    ...(runsTests ? [`The tests are run with: ${command}\n`] : []),
    ...(language === 'Rust' && phase.get('id') === 'TDD' ? [RUST_TESTS] : []),
    ...(isReviewed ? [REVIEWED_BY_OTHER] : []),
  ]
  const gates = steps.length === 0 ? [] : listGreenGates(phase)
  return {
    ...(words.length > 0 && isScalar(phase.get('prompt', true)) ? { prompt: `${BASE}\n${words.join('')}` } : {}),
    ...(gates.length === 0 ? {} : { gates: gates.map((gate) => addSteps(gate, steps)) }),
    ...(isReviewed ? { review: { by: 'other' } } : {}),
  }
}

function addSteps(gate: YAMLMap, steps: FoundTests['steps']) {
  return { id: gate.get('id'), blockers: [BASE, ...steps.map(makeStepBlocker)] }
}
