import type { CoordinationRun } from '../councils/council.js'

/** Events of a task about its voting reviewers. */
export type ConsensusFact =
  /** Recorded before the council is opened: a council that was not requested opens no gate. */
  {
    readonly type: 'consensus_requested'
    readonly runId: string
    readonly to: string
    /** Hash of what is voted on. */
    readonly subject: string
    readonly agents: readonly string[]
    readonly quorum: number | null
  }

/** What opened a gate with voting reviewers: enough to find the council in the ledger and count again. */
export interface ConsensusProof {
  readonly run: string
  readonly subject: string
  readonly winner: string
  readonly label: string
  readonly votes: number
  readonly quorum: number | null
  /** The last event of the council. */
  readonly seq: number
  readonly hash: string
  readonly grade: 'observed'
}

/** The vote on exactly the current work. */
export interface ConsensusSeen {
  /** The only council there can be for this subject. */
  readonly runId: string
  /** Hash of everything voted on. */
  readonly subject: string
  /** `workKey` of the task before the work was read. */
  readonly workKey: string
  /** Null: not opened. */
  readonly run: CoordinationRun | null
  /** Its last event in the ledger. */
  readonly last: { readonly seq: number; readonly hash: string } | null
  /** An open council on other work of this visit. */
  readonly replaces: string | null
}
