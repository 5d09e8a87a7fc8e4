import type { CoordinationRun, Participant, Verdict } from '../../core/councils/council.js'

/** What one voter stands for when the vote is over. */
export interface VoterReview {
  readonly name: string
  readonly status: 'approved' | 'changes_requested'
  readonly summary: string
  /** It is what the vote decided, and it requests changes. */
  readonly isBlocking: boolean
}

/** The reviews that a vote leaves behind: by each voter what it voted for or, without a vote, what it said itself. */
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
