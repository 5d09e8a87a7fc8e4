import { formatCount } from '../text.js'
import type { CoordinationRun } from './council.js'

/** Whether a finished council opens its gate, and why not. */
interface Consensus {
  readonly status: 'pending' | 'holds' | 'fails'
  readonly message: string
}

/**
 * The gate opens when the winner approves with enough votes. An aborted council, or one without votes, opens nothing.
 */
export function judgeConsensus(run: CoordinationRun): Consensus {
  const { result } = run
  if (run.endedAt === null) return { status: 'pending', message: 'The reviewers have not finished.' }
  if (result === null || result.winner === null || run.finishReason === 'cancelled' || run.finishReason === 'error')
    return { status: 'fails', message: run.finishDetails ?? 'The council has no result.' }
  if (result.votes < countNeededVotes(run)) {
    const said = `${formatCount(result.votes, 'vote')} for ${result.winner}, at least ${countNeededVotes(run)} needed.`
    return { status: 'fails', message: said }
  }
  // Without votes the latest answer decides, so everybody must have answered.
  if (run.options.skipVoting && run.finishReason !== 'completed')
    return { status: 'fails', message: 'Not every reviewer answered in time.' }
  const verdict = run.answers.find((answer) => answer.label === result.label)?.verdict ?? null
  return verdict === 'approve'
    ? { status: 'holds', message: `${result.winner} approves with ${formatCount(result.votes, 'vote')}.` }
    : { status: 'fails', message: `${result.winner} ${verdict === null ? 'gives no verdict' : 'requests changes'}.` }
}

/** Without a quorum one vote is enough; if nobody votes, none is required. */
function countNeededVotes(run: CoordinationRun): number {
  return run.options.quorum ?? (run.options.skipVoting ? 0 : 1)
}
