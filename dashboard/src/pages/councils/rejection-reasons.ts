const REASONS: Readonly<Record<string, string>> = {
  no_workflow_tool: 'It called tools, but neither voted nor answered.',
  no_tool_calls: 'It called nothing: a turn ends with exactly one vote or answer.',
  invalid_vote_id: 'It voted for an agent that cannot be voted for.',
  vote_no_answers: 'It voted although there is no answer yet.',
  vote_and_answer: 'It voted and answered in one response.',
  answer_limit: 'It has used up its answers.',
  answer_novelty: 'Its answer is too similar to one that stands.',
  answer_duplicate: 'Its answer is identical to one that stands.',
  unknown_tool: 'It called a tool that does not exist.',
}

/** Why a response was refused, in one sentence. */
export function nameReason(reason: string): string {
  return REASONS[reason] ?? 'The response was refused.'
}
