import type { Json } from '../json.js'
import type { TokensUsed } from './council.js'
import type { RunEvent, RunFact } from './event.js'
import type { RunOptions } from './options.js'
import type { Reason, RetryHandling } from './reason.js'

/** One tool call of a response. `arguments` is what the agent sent, unchecked. */
export interface ResponseCall {
  readonly name: string
  readonly arguments: Json
}

/**
 * One complete response of an agent: from the start of its turn, or from an inline rejection, to the end of the turn or
 * to the calls that need a decision. Includes tools that ran in between (`isOnlyToolCalls`).
 */
export interface ResponseCommand {
  readonly type: 'responded'
  readonly agent: string
  readonly text: string
  readonly toolCalls: readonly ResponseCall[]
  /** All text streamed in this turn; if empty, `text` counts. */
  readonly buffer: string
  /** How many characters were streamed, if `buffer` holds only the beginning. */
  readonly bufferChars?: number
  /** How a rejection will reach the agent. A turn that ended without a call is always a restart. */
  readonly handled: RetryHandling
  /** The agent's tools besides `vote` and `new_answer`; names are compared exactly. */
  readonly knownTools: readonly string[]
}

export interface StartRun {
  readonly type: 'start'
  readonly id: string
  readonly question: string
  /** In the order of registration, which breaks ties. */
  readonly agents: readonly { readonly id: string; readonly workTree?: string | null }[]
  readonly options: RunOptions
  /** Answers must carry a verdict. */
  readonly isConsensus?: boolean
  /** Where the participants are stored; not used here. */
  readonly council?: string | null
}

export type RunCommand =
  | StartRun
  /**
   * Recorded before every prompt: a new `chat()`, a restart, or a view for a remote agent. `shown`: labels of the
   * answers in it.
   */
  | { readonly type: 'turn_began'; readonly agent: string; readonly shown: readonly string[] }
  | ResponseCommand
  /** Answers delivered during a turn. */
  | { readonly type: 'injected'; readonly agent: string; readonly shown: readonly string[] }
  | { readonly type: 'agent_failed'; readonly agent: string; readonly message: string }
  | { readonly type: 'agent_timed_out'; readonly agent: string }
  /** Usage of a turn; recorded while the council is open, even if the agent is out. */
  | { readonly type: 'usage'; readonly agent: string; readonly tokens: TokensUsed }
  /** Time passed. Every command checks the time limits first, so this one only must not come too late. */
  | { readonly type: 'tick' }
  | { readonly type: 'cancel'; readonly reason: string }
  | { readonly type: 'final_presented'; readonly agent: string; readonly text: string }

export type RefusedBecause =
  | 'invalid_start'
  | 'already_started'
  | 'run_over'
  | 'unknown_agent'
  | 'unknown_answer'
  | 'not_awaited'
  | 'not_presenting'

/** The round and attempt number of a response. */
export interface AttemptPlace {
  readonly round: number
  readonly attempt: number
  readonly maxAttempts: number
}

/** The answer to the sender of the command. */
export type RunOutcome =
  /** Recorded, or nothing needed recording. */
  | { readonly kind: 'done' }
  | (AttemptPlace & { readonly kind: 'accepted'; readonly action: 'vote' | 'new_answer'; readonly label: string })
  /**
   * A vote that did not count because its voter had not seen newer answers: show it those in `shown`, then ask again.
   */
  | (AttemptPlace & { readonly kind: 'asked_again'; readonly message: string; readonly shown: readonly string[] })
  | (AttemptPlace & {
      readonly kind: 'rejected'
      readonly reason: Reason
      /** `Retry (n/m): …`, for the user and the agent. */
      readonly message: string
      readonly handled: RetryHandling
      /** Why the agent is out, if this was its last attempt. */
      readonly stopped: string | null
    })
  /** The command does not fit the council; it changed nothing except through the time limits. */
  | { readonly kind: 'refused'; readonly because: RefusedBecause; readonly detail: string }

export interface RunDecision {
  readonly events: readonly RunEvent[]
  readonly outcome: RunOutcome
}

/** One step of a decision: its events have no timestamps yet. */
export interface RunStep {
  readonly facts: readonly RunFact[]
  readonly outcome: RunOutcome
}
