import type { CoordinationRun } from '../councils/council.js'

/** What a task's own stream says of the reviewers that vote on it. */
export type ConsensusFact =
  /** Before the run is opened: a run that nobody asked for opens no gate. */
  {
    readonly type: 'consensus_requested'
    readonly runId: string
    readonly to: string
    /** Hash of what is voted on. */
    readonly subject: string
    readonly agents: readonly string[]
    readonly quorum: number | null
  }

/** What a gate that reviewers opened was opened by: enough to find the run in the ledger and to count again. */
export interface ConsensusProof {
  readonly run: string
  readonly subject: string
  readonly winner: string
  readonly label: string
  readonly votes: number
  readonly quorum: number | null
  /** The last event of the run. */
  readonly seq: number
  readonly hash: string
  readonly grade: 'observed'
}

/** What the shell found of the vote over exactly the work that there is now. */
export interface ConsensusSeen {
  /** The one run that there can be for this subject. */
  readonly runId: string
  /** Hash of all that is voted on. */
  readonly subject: string
  /** `workKey` of the task before it was looked at. */
  readonly workKey: string
  /** Null: it was not opened. */
  readonly run: CoordinationRun | null
  /** Its last event in the ledger. */
  readonly last: { readonly seq: number; readonly hash: string } | null
  /** A run over other work of this visit that goes on. */
  readonly replaces: string | null
}
