import { isMap, isScalar, isSeq, type YAMLMap } from 'yaml'
import type { Preset } from './choose-preset.js'
import type { CoverageCommand } from './coverage-commands.js'
import type { ReportFile, Step } from './project.js'

/** What `init` found out about the tests of a repository. */
export interface FoundTests {
  readonly project: string
  readonly language: string
  /** Null: keep the command of the bundled contract. */
  readonly command: string | null
  /** Where the command writes its results; absent: to its output. */
  readonly reportFile?: ReportFile | undefined
  /** Whether the tests may send SIGUSR1; left out: they may not. */
  readonly allowsSigusr1?: boolean
  readonly timeoutSeconds: number | null
  readonly patterns: readonly string[]
  readonly mayWrite: readonly string[]
  /** Commands that must succeed at GREEN besides the tests. */
  readonly steps: readonly Step[]
  /** Null: nothing is known that measures coverage, and no gate asks for it. */
  readonly coverage: CoverageCommand | null
  /** The preset of its runner; null where none fits. */
  readonly preset: Preset | null
}

const GREEN_CHECKS = ['all_tests_pass', 'tests_not_worse']

/** The gates that ask for passing tests. */
export function listGreenGates(phase: YAMLMap): readonly YAMLMap[] {
  const gates = phase.get('gates')
  return (isSeq(gates) ? gates.items : []).filter((gate): gate is YAMLMap => {
    const blockers = isMap(gate) ? gate.get('blockers') : null
    return isSeq(blockers) && GREEN_CHECKS.some((check) => hasCheck(blockers, check))
  })
}

export function makeStepBlocker({ name, run }: Step) {
  return { check: 'command_succeeds', command: name, severity: 'blocking', message: `\`${run}\` must succeed` }
}

export function offersTool(phase: YAMLMap, tool: string): boolean {
  const [allowed, forbidden] = [phase.get('allowed_tools'), phase.get('forbidden_tools')]
  const has = (list: unknown): boolean => isSeq(list) && list.items.some((one) => isScalar(one) && one.value === tool)
  return has(allowed) && !has(forbidden)
}

function hasCheck(blockers: { readonly items: readonly unknown[] }, check: string): boolean {
  return blockers.items.some((blocker) => isMap(blocker) && blocker.get('check') === check)
}

/** Whether the phase asks for a review, and does not say yet by whom. */
export function hasReviewReport(phase: YAMLMap): boolean {
  const artifacts = phase.get('required_artifacts')
  const isAsked =
    isSeq(artifacts) && artifacts.items.some((item) => isMap(item) && item.get('type') === 'review_report')
  return isAsked && !phase.has('review')
}

export const REVIEWED_BY_OTHER =
  'Your own report does not open the gate: somebody else looks at the change and approves it.\n'

/** Added to the prompt of TDD for Rust. */
export const RUST_TESTS =
  'New tests go to files below tests/ and call what the crate exports. Tests inside of sources stay as they are.\n'
