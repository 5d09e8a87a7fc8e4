/** Why a response was rejected. */
export const REASONS = [
  'no_workflow_tool',
  'no_tool_calls',
  'invalid_vote_id',
  'vote_no_answers',
  'vote_and_answer',
  'answer_limit',
  'answer_novelty',
  'answer_duplicate',
  'unknown_tool',
] as const
export type Reason = (typeof REASONS)[number]

/** Problems of a vote or an answer, as opposed to a response without either. */
export const WORKFLOW_ERRORS: ReadonlySet<string> = new Set<Reason>([
  'invalid_vote_id',
  'vote_no_answers',
  'vote_and_answer',
  'answer_limit',
  'answer_novelty',
  'answer_duplicate',
])

/** `inline`: answered by a tool error in the same stream. `restart`: the turn is over, and a new one begins. */
export type RetryHandling = 'inline' | 'restart'
