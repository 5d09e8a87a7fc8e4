import type { Contract } from '../contract/contract.js'
import type { Json } from '../json.js'
import { isVoting } from '../reviews/consensus.js'
import { dependsOnReviews } from '../reviews/consensus-plan.js'
import { REVIEW_ARTIFACTS } from '../reviews/review.js'
import type { ArtifactOffered, CheckOutcome, Context, GateFacts } from '../task/command.js'
import type { TaskState } from '../task/state.js'
import { findTreeBlockers } from '../task/tree-blockers.js'
import { findBlockers, OBSERVED_ARTIFACT } from './blockers.js'
import type { Needs } from './needs.js'

const GIT_CHECKS: ReadonlySet<string> = new Set(['work_tree_clean', 'committed'])

/** Whether a check reads git's state. If trees are not compared, only git sees changes made outside the tools. */
export function asksGit({ enforcement }: Contract, check: string): boolean {
  return GIT_CHECKS.has(check) || (check === 'no_commented_out_code' && enforcement.reconcile === 'off')
}

/** Whether all cheap checks pass: only then are the project's tests run. */
export function isOpenSoFar(
  contract: Contract,
  state: TaskState,
  needed: Needs,
  found: {
    readonly offered: readonly ArtifactOffered[]
    readonly checks: ReadonlyMap<string, CheckOutcome>
    readonly problems: readonly string[]
    readonly evidenceHolds: boolean
  },
): boolean {
  const { offered, checks, problems, evidenceHolds } = found
  const isObserved = (type: string): boolean => type === OBSERVED_ARTIFACT && contract.commands.has('tests')
  const artifactsFit = needed.artifacts.every(({ type }) => {
    if (isObserved(type) || (needed.isReviewedByVote && REVIEW_ARTIFACTS.includes(type))) return true
    const sent = offered.find((one) => one.type === type)
    const kept = state.artifacts.get(type)
    return sent === undefined ? kept?.visit === state.visit : sent.problems.length === 0
  })
  if (problems.length > 0 || !artifactsFit || !evidenceHolds) return false
  const fillsEvidence = [...needed.evidence.values()].some((field) => field.grade === 'observed')
  return needed.checks.every(({ key, blocker, artifact }) => {
    if (needed.isReviewedByVote && dependsOnReviews(blocker, artifact)) return true
    if (blocker.severity !== 'blocking' || needsRun(contract, blocker.check, blocker.params.when)) return true
    if (fillsEvidence && blocker.check === 'expression' && /\bevidence\b/.test(String(blocker.params.when ?? '')))
      return true
    return checks.get(key)?.result === 'holds'
  })
}

const RUN_CHECKS: ReadonlySet<string> = new Set([
  ...['work_tree_clean', 'committed', 'examples_hold', 'tests_can_fail'],
  ...['tests_not_worse', 'test_files_load', 'coverage_not_lower'],
  ...['tests_are_failing', 'all_tests_pass', 'no_skipped_tests', 'coverage_threshold_met', 'command_succeeds'],
])

const READS_OBSERVED = /\bobserved\b/
const READS_RUN = /\b(observed|test_run_result)\b/
const TEST_CHECKS: ReadonlySet<string> = new Set(['tests_are_failing', 'all_tests_pass', 'no_skipped_tests'])

function needsRun(contract: Contract, check: string, when: Json | undefined): boolean {
  // If Phaselock runs the tests, it also produces the result that an expression reads.
  if (check === 'expression')
    return (contract.commands.has('tests') ? READS_RUN : READS_OBSERVED).test(String(when ?? ''))
  if (asksGit(contract, check)) return true
  if (!RUN_CHECKS.has(check)) return false
  return !TEST_CHECKS.has(check) || contract.commands.has('tests')
}

/** Whether only pending examples keep the gates closed, in any mode. */
export function isOpenButForExamples(
  contract: Contract,
  state: TaskState,
  one: { readonly needed: Needs; readonly facts: GateFacts; readonly context: Context },
): boolean {
  const { needed, facts } = one
  const when = needed.demand.transition?.when ?? null
  const { blockers } = findBlockers(state, needed, {
    facts,
    claims: when === null ? [] : [when],
    mode: 'strict',
    isVoting: isVoting(needed.consensus, facts.consensus),
    more: findTreeBlockers(contract, state, facts, one.context),
  })
  return blockers.every(({ check }) => check === 'examples_hold')
}
