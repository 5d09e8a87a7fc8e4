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
