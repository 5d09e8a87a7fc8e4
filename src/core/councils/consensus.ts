import { formatCount } from '../text.js'
import type { CoordinationRun } from './council.js'

/** What a run says about the gate that it stands for. */
export interface Consensus {
  readonly status: 'pending' | 'holds' | 'fails'
  readonly message: string
}

/** The gate holds when the winner approves with enough votes. A run that was broken off, or that nobody voted in, opens nothing. */
export function judgeConsensus(run: CoordinationRun): Consensus {
  const { result } = run
  if (run.endedAt === null) return { status: 'pending', message: 'The reviewers have not finished.' }
  if (result === null || result.winner === null || run.finishReason === 'cancelled' || run.finishReason === 'error')
    return { status: 'fails', message: run.finishDetails ?? 'The run has no result.' }
  if (result.votes < countNeededVotes(run)) {
    const said = `${formatCount(result.votes, 'vote')} for ${result.winner}, at least ${countNeededVotes(run)} needed.`
    return { status: 'fails', message: said }
  }
  // Without votes the latest answer speaks for all, so all must have been heard.
  if (run.options.skipVoting && run.finishReason !== 'completed')
    return { status: 'fails', message: 'Not every reviewer answered in time.' }
  const verdict = run.answers.find((answer) => answer.label === result.label)?.verdict ?? null
  return verdict === 'approve'
    ? { status: 'holds', message: `${result.winner} approves with ${formatCount(result.votes, 'vote')}.` }
    : { status: 'fails', message: `${result.winner} ${verdict === null ? 'gives no verdict' : 'requests changes'}.` }
}

/** Without a quorum one vote is enough; where nobody votes, none can be asked for. */
function countNeededVotes(run: CoordinationRun): number {
  return run.options.quorum ?? (run.options.skipVoting ? 0 : 1)
}
