import type { FinishReason, TokensUsed, Verdict } from './council.js'
import type { RunOptions } from './options.js'
import type { Reason, RetryHandling } from './reason.js'

/**
 * The data of each event type, without the time. All are plain JSON: folding them restores a council after a restart.
 */
export type RunFact =
  | {
      readonly type: 'run_started'
      readonly id: string
      readonly question: string
      readonly isConsensus: boolean
      readonly council: string | null
      readonly agents: readonly { readonly id: string; readonly workTree: string | null }[]
      readonly options: RunOptions
    }
  /** `shown`: labels of the answers in the prompt. */
  | { readonly type: 'turn_began'; readonly agent: string; readonly shown: readonly string[] }
  | { readonly type: 'answers_injected'; readonly agent: string; readonly shown: readonly string[] }
  | {
      readonly type: 'answer_accepted'
      readonly agent: string
      readonly label: string
      readonly content: string
      readonly verdict: Verdict | null
      /** Whose votes it voided. */
      readonly voided: readonly string[]
    }
  | {
      readonly type: 'vote_cast'
      readonly agent: string
      readonly votedFor: string
      readonly label: string
      readonly reason: string
    }
  /** Not counted as an enforcement: the answer delivers the newest answers. */
  | {
      readonly type: 'vote_asked_again'
      readonly agent: string
      readonly votedFor: string
      readonly reason: string
      readonly shown: readonly string[]
      readonly handled: RetryHandling
    }
  | {
      readonly type: 'response_rejected'
      readonly agent: string
      readonly round: number
      readonly attempt: number
      readonly maxAttempts: number
      readonly reason: Reason
      readonly toolCalls: readonly string[]
      readonly unknownTools: readonly string[]
      readonly message: string
      readonly errorMessage: string | null
      readonly bufferPreview: string
      readonly bufferChars: number
      readonly handled: RetryHandling
    }
  | {
      readonly type: 'agent_stopped' | 'agent_failed' | 'agent_timed_out'
      readonly agent: string
      readonly message: string
    }
  /** Usage of a turn, as the agent's server counted it. */
  | ({ readonly type: 'usage_recorded'; readonly agent: string; readonly round: number } & TokensUsed)
  | {
      readonly type: 'run_decided'
      readonly winner: string | null
      readonly label: string | null
      readonly isTie: boolean
      readonly votes: number
      readonly finishReason: FinishReason
      readonly details: string
    }
  | { readonly type: 'final_presented'; readonly agent: string; readonly label: string; readonly text: string }
  | { readonly type: 'run_ended'; readonly finishReason: FinishReason; readonly details: string }

/** An event of one council. `at` is Unix milliseconds. */
export type RunEvent = RunFact & { readonly at: number }
