import type { RunOptions } from '../councils/options.js'
import type { AutoSpawn } from './agent-programs.js'

export type AlertCondition = 'gate_block_rate' | 'task_stuck_in_phase' | 'approval_waiting'

/** When the alert is raised: a share between 0 and 1 for a rate, seconds for a duration. */
export interface Alert {
  readonly condition: AlertCondition
  readonly limit: number
  /** The contract's own text; '' when it gives none. */
  readonly message: string
}

/** What happens to a task whose agent lost its lease. */
export interface AgentCrash {
  readonly action: 'retry' | 'park'
  readonly maxRetries: number
  /** Multiplied by the number of crashes: the second one waits twice as long. */
  readonly backoffSeconds: number
}

/** A reviewer slot, opened on entering a phase and filled by the reviewer admitted under its name. */
export interface Slot {
  readonly name: string
  /** The phase cannot be left before this one has finished. */
  readonly isAwaited: boolean
}

/** Reviewer setup when a phase is entered. */
export interface Places {
  /** Reviewer slots to open. */
  readonly slots?: readonly Slot[]
  /** Agents of the contract to start for some of the slots. */
  readonly autoSpawn?: readonly AutoSpawn[]
}

/**
 * A voting reviewer: a program that Phaselock starts, or the holder of the token that an operator hands out for this
 * name.
 */
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

/** A service of the machine that a command may reach. */
export interface Service {
  /** `127.0.0.1:5432`, or the absolute path of a socket. */
  readonly address: string
  /** Commands that start and stop it on the machine itself, and one that succeeds when it is ready. */
  readonly start?: string
  readonly stop?: string
  readonly ready?: string
}
