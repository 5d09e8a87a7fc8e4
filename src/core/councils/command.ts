import type { Json } from '../json.js'
import type { TokensUsed } from './council.js'
import type { RunEvent, RunFact } from './event.js'
import type { RunOptions } from './options.js'
import type { Reason, RetryHandling } from './reason.js'

/** One tool call of a response. `arguments` is what the agent sent, whatever that is. */
export interface ResponseCall {
  readonly name: string
  readonly arguments: Json
}

/**
 * One whole response of an agent: everything since its turn began, or since the rejection that was answered inline, up to
 * the end of the turn or to the calls that ask for a decision. Calls of tools that ran on the way (`isOnlyToolCalls`) are part of it.
 */
export interface ResponseCommand {
  readonly type: 'responded'
  readonly agent: string
  readonly text: string
  readonly toolCalls: readonly ResponseCall[]
  /** All text streamed in this turn; `text` counts where this is empty. */
  readonly buffer: string
  /** How many characters were streamed, where `buffer` is only their beginning. */
  readonly bufferChars?: number
  /** How a rejection will reach the agent. A turn that ended without a call is a restart whatever this says. */
  readonly handled: RetryHandling
  /** The tools that exist for this agent besides `vote` and `new_answer`; names are compared exactly. */
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
  /** Where it is kept who stands behind the agents; means nothing here. */
  readonly council?: string | null
}

export type RunCommand =
  | StartRun
  /** Before every prompt: a new `chat()`, a restart, a view handed to a remote agent. `shown`: labels of the answers in it. */
  | { readonly type: 'turn_began'; readonly agent: string; readonly shown: readonly string[] }
  | ResponseCommand
  /** Answers delivered in the middle of a turn. */
  | { readonly type: 'injected'; readonly agent: string; readonly shown: readonly string[] }
  | { readonly type: 'agent_failed'; readonly agent: string; readonly message: string }
  | { readonly type: 'agent_timed_out'; readonly agent: string }
  /** What a turn took; taken as long as the run goes on, whatever became of the agent. */
  | { readonly type: 'usage'; readonly agent: string; readonly tokens: TokensUsed }
  /** Time passed. Every command looks at the time limits first, so this one only must not come too late. */
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

/** Where a response stood: its round, and which attempt of it this was. */
export interface AttemptPlace {
  readonly round: number
  readonly attempt: number
  readonly maxAttempts: number
}

/** The answer to whoever sent the command. */
export type RunOutcome =
  /** Recorded, or nothing had to be. */
  | { readonly kind: 'done' }
  | (AttemptPlace & { readonly kind: 'accepted'; readonly action: 'vote' | 'new_answer'; readonly label: string })
  /** A vote that did not count because of answers its voter had not seen: show it those of `shown`, then ask again. */
  | (AttemptPlace & { readonly kind: 'asked_again'; readonly message: string; readonly shown: readonly string[] })
  | (AttemptPlace & {
      readonly kind: 'rejected'
      readonly reason: Reason
      /** `Retry (n/m): …`, for the user and the agent. */
      readonly message: string
      readonly handled: RetryHandling
      /** Why the agent takes no part any more, when this was its last attempt. */
      readonly stopped: string | null
    })
  /** The command does not fit the run; it left no trace beyond what the time limits did. */
  | { readonly kind: 'refused'; readonly because: RefusedBecause; readonly detail: string }

export interface RunDecision {
  readonly events: readonly RunEvent[]
  readonly outcome: RunOutcome
}

/** One step within a decision: its facts are not stamped yet. */
export interface RunStep {
  readonly facts: readonly RunFact[]
  readonly outcome: RunOutcome
}
