/** How similar two answers may be: `lenient` accepts everything except duplicates. */
export type Novelty = 'lenient' | 'balanced' | 'strict'

/** Options of a council; null is "no limit". */
export interface RunOptions {
  readonly maxNewAnswersPerAgent: number
  readonly maxNewAnswersGlobal: number | null
  readonly novelty: Novelty
  readonly maxAttempts: number
  readonly roundTimeoutSeconds: number
  readonly timeoutSeconds: number
  readonly quorum: number | null
  readonly skipVoting: boolean
  readonly allowSelfVote: boolean
  readonly finalPresentation: boolean
}

export const DEFAULT_OPTIONS: RunOptions = {
  maxNewAnswersPerAgent: 3,
  maxNewAnswersGlobal: null,
  novelty: 'lenient',
  maxAttempts: 3,
  roundTimeoutSeconds: 600,
  timeoutSeconds: 1800,
  quorum: null,
  skipVoting: false,
  allowSelfVote: true,
  finalPresentation: false,
}

export const AGENTS_MAX = 64
const ANSWERS_PER_AGENT_MAX = 100
const ANSWERS_GLOBAL_MAX = AGENTS_MAX * ANSWERS_PER_AGENT_MAX
const ATTEMPTS_MAX = 20
const TIMEOUT_SECONDS_MAX = 7 * 86_400
export const QUESTION_CHARS_MAX = 100_000

/** The options with defaults filled in. */
export function runOptions(given: { readonly [K in keyof RunOptions]?: RunOptions[K] | undefined } = {}): RunOptions {
  const said = Object.entries(given).filter(([key, value]) => key in DEFAULT_OPTIONS && value !== undefined)
  return { ...DEFAULT_OPTIONS, ...Object.fromEntries(said) }
}

/** The problem of the options for this number of agents; null when there is none. */
export function findOptionProblem(options: RunOptions, agentCount: number): string | null {
  const counts: readonly (readonly [string, number | null, number])[] = [
    ['max_new_answers_per_agent', options.maxNewAnswersPerAgent, ANSWERS_PER_AGENT_MAX],
    ['max_new_answers_global', options.maxNewAnswersGlobal, ANSWERS_GLOBAL_MAX],
    ['max_attempts', options.maxAttempts, ATTEMPTS_MAX],
    ['round_timeout_seconds', options.roundTimeoutSeconds, TIMEOUT_SECONDS_MAX],
    ['timeout_seconds', options.timeoutSeconds, TIMEOUT_SECONDS_MAX],
    ['quorum', options.quorum, agentCount],
  ]
  for (const [name, value, max] of counts)
    if (value !== null && !(Number.isInteger(value) && value >= 1 && value <= max))
      return `${name} must be a whole number from 1 to ${max}.`
  if (!(['lenient', 'balanced', 'strict'] as const).includes(options.novelty))
    return 'novelty must be lenient, balanced or strict.'
  // Nobody votes then, so that no quorum could be reached.
  if (options.skipVoting && options.quorum !== null) return 'quorum cannot be reached with skip_voting.'
  return null
}

/** Why no answer can reach the quorum without self-votes; null when one can. */
export function findQuorumProblem({ quorum, allowSelfVote }: RunOptions, agentCount: number): string | null {
  if (allowSelfVote || quorum === null || quorum < agentCount) return null
  return `quorum cannot be reached: without allow_self_vote an answer gets at most ${agentCount - 1} of ${agentCount} votes.`
}
