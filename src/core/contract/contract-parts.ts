import type { RunOptions } from '../councils/options.js'
import type { AutoSpawn } from './agent-programs.js'

export type AlertCondition = 'gate_block_rate' | 'task_stuck_in_phase' | 'approval_waiting'

/** When somebody is told: a share between 0 and 1 for a rate, seconds for everything that lasts. */
export interface Alert {
  readonly condition: AlertCondition
  readonly limit: number
  /** The contract's own words; '' when it gives none. */
  readonly message: string
}

/** What becomes of a task whose agent lost its lease. */
export interface AgentCrash {
  readonly action: 'retry' | 'park'
  readonly maxRetries: number
  /** Times the number of the crash: the second one waits twice as long. */
  readonly backoffSeconds: number
}

/** A place for a reviewer, opened on entering a phase and filled by whoever is let in under its name. */
export interface Slot {
  readonly name: string
  /** The phase is not left before this one has finished. */
  readonly isAwaited: boolean
}

/** What a phase does for its reviewers when it is entered. */
export interface Places {
  /** Places for reviewers that open. */
  readonly slots?: readonly Slot[]
  /** Agents of the contract that are started to fill some of them. */
  readonly autoSpawn?: readonly AutoSpawn[]
}

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
