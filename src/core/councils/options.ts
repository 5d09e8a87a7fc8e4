/** How much alike two answers may be: `lenient` lets everything through that is not a duplicate. */
export type Novelty = 'lenient' | 'balanced' | 'strict'

/** What an operator may set for a run; null is "no limit". */
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
export const ANSWERS_PER_AGENT_MAX = 100
export const ANSWERS_GLOBAL_MAX = AGENTS_MAX * ANSWERS_PER_AGENT_MAX
export const ATTEMPTS_MAX = 20
export const TIMEOUT_SECONDS_MAX = 7 * 86_400
export const QUESTION_CHARS_MAX = 100_000

/** The options with the defaults in place of what is not given. */
export function runOptions(given: { readonly [K in keyof RunOptions]?: RunOptions[K] | undefined } = {}): RunOptions {
  const said = Object.entries(given).filter(([key, value]) => key in DEFAULT_OPTIONS && value !== undefined)
  return { ...DEFAULT_OPTIONS, ...Object.fromEntries(said) }
}

/** What is wrong with the options of a run of so many agents; null when nothing is. */
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
  // Nobody votes then, so that no quorum could ever be reached.
  if (options.skipVoting && options.quorum !== null) return 'quorum cannot be reached with skip_voting.'
  return null
}

/** Why no answer can get as many votes as the quorum asks for, where nobody votes for itself; null when one can. */
export function findQuorumProblem({ quorum, allowSelfVote }: RunOptions, agentCount: number): string | null {
  if (allowSelfVote || quorum === null || quorum < agentCount) return null
  return `quorum cannot be reached: without allow_self_vote an answer gets at most ${agentCount - 1} of ${agentCount} votes.`
}
