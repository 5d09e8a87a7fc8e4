import type { Blocker, Phase } from '../contract/contract.js'
import type { CoordinationRun } from '../councils/council.js'
import type { RunOptions } from '../councils/options.js'
import type { TaskState } from '../task/state.js'
import { listAskedReviews, REVIEW_ARTIFACTS, REVIEW_CHECKS } from './review.js'

/** A reviewer that votes: a program that Phaselock starts, or whoever an operator hands the token of this name. */
export interface Voter {
  readonly id: string
  readonly program: {
    readonly harness: 'claude-code' | 'codex' | 'gemini' | 'opencode' | 'command'
    readonly command: string | null
    readonly args: readonly string[]
    readonly model: string | null
  } | null
}

/** Who must agree before a phase is left, on what, and how they vote. */
export interface ConsensusPlan {
  readonly voters: readonly Voter[]
  readonly question: string
  readonly options: RunOptions
}

/** What the shell found of the vote over exactly the work that there is now. */
export interface ConsensusSeen {
  /** The one run that there can be for this subject. */
  readonly runId: string
  /** Hash of all that is voted on. */
  readonly subject: string
  /** `formatWorkKey` of the task before it was looked at. */
  readonly workKey: string
  /** Null: it was not opened. */
  readonly run: CoordinationRun | null
  /** Its last event in the ledger. */
  readonly last: { readonly seq: number; readonly hash: string } | null
  /** A run over other work of this visit that goes on. */
  readonly replaces: string | null
}

/** Another one after every call that may have changed the work: what was looked at before is not what there is now. */
export function formatWorkKey({ visit, watch }: TaskState): string {
  return JSON.stringify([visit, watch.mark, watch.facts.commands.added, watch.facts.edits.added])
}

/** The reviews of others that leaving the phase asks for; null: none, and then the agent's own counts. */
export function listNeededReviews(phase: Phase): readonly string[] | null {
  const asked = listAskedReviews(phase)
  const voters = phase.consensus?.voters.map((voter) => voter.id) ?? []
  return asked === null && voters.length === 0 ? null : [...new Set([...(asked ?? []), ...voters])]
}

/** True when nobody but the voters is asked for reviews: then what is made of reviews is there when they have voted, and not before. */
export function isReviewedByVotersOnly(phase: Phase): boolean {
  const voters = phase.consensus?.voters.map((voter) => voter.id)
  return voters !== undefined && (listAskedReviews(phase) ?? []).every((name) => voters.includes(name))
}

/** True for a check that cannot hold before there are reviews. */
export function dependsOnReviews(asked: Pick<Blocker, 'check' | 'params'>, artifact: string | null): boolean {
  if (REVIEW_CHECKS.has(asked.check) || (artifact !== null && REVIEW_ARTIFACTS.includes(artifact))) return true
  return asked.check === 'expression' && OF_REVIEWS.test(String(asked.params.when ?? ''))
}

const OF_REVIEWS = new RegExp(`\\b(${REVIEW_ARTIFACTS.join('|')})\\b`)
