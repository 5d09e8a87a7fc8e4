import type { CoordinationRun, Participant, Verdict } from '../../core/councils/council.js'

/** The final position of one voter. */
export interface VoterReview {
  readonly name: string
  readonly status: 'approved' | 'changes_requested'
  readonly summary: string
  /** True if this is the winning answer and it requests changes. */
  readonly isBlocking: boolean
}

/**
 * The reviews that result from a vote: for each voter the answer it voted for or, if it did not vote, its own answer.
 */
export function listReviewsOfVote(run: CoordinationRun | null): readonly VoterReview[] {
  if (run === null || run.endedAt === null) return []
  const winning = run.answers.find((answer) => answer.label === run.result?.label)
  return [...run.agents.values()].flatMap((agent) => {
    const verdict = findVerdict(run, agent)
    if (verdict === null) return []
    const summary = run.newest.get(agent.id)?.content ?? agent.vote?.reason ?? ''
    const isBlocking = winning?.agent === agent.id && winning.verdict === 'request_changes'
    return [{ name: agent.id, status: verdict === 'approve' ? 'approved' : 'changes_requested', summary, isBlocking }]
  })
}

function findVerdict(run: CoordinationRun, agent: Participant): Verdict | null {
  const { vote } = agent
  const answer = vote === null ? run.newest.get(agent.id) : run.answers.find((one) => one.label === vote.label)
  return answer?.verdict ?? null
}
