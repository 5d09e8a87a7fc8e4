import { formatCount } from '../text.js'
import type { CoordinationRun, FinishReason, RunResult } from './council.js'
import { isDone, tally } from './council.js'
import type { RunFact } from './event.js'
import { NO_ANSWERS_IN_TIME, TIE_BROKEN } from './messages.js'

/** Ends the council, or decides it and asks the winner for its presentation; empty while somebody is missing. */
export function decideEnding(run: CoordinationRun): readonly RunFact[] {
  if (run.endedAt !== null) return []
  const live = [...run.agents.values()].filter((agent) => agent.status === 'live')
  if (run.result !== null) {
    const isPresenterGone = live.every((agent) => agent.id !== run.result?.winner)
    return isPresenterGone ? [makeEndFact(run.result)] : []
  }
  if (live.length === 0) return makeResultFacts(run, findReasonWithNobodyLeft(run))
  return live.every((agent) => isDone(run, agent)) ? makeResultFacts(run, 'completed') : []
}

/** Ends the council at the time limit, whoever is still at work. */
export function decideTimeLimit(run: CoordinationRun): readonly RunFact[] {
  return makeResultFacts(run, 'timeout')
}

/** The winning answer replaces a missing presentation. */
export function makeEndFact(result: RunResult): RunFact {
  return {
    type: 'run_ended',
    finishReason: result.finishReason,
    details: `${result.details}; without a final presentation`,
  }
}

/** Votes decide even if no agent is left. A council without any has failed. */
function findReasonWithNobodyLeft(run: CoordinationRun): FinishReason {
  const agents = [...run.agents.values()]
  if (!run.options.skipVoting && tally(run).size > 0) return 'completed'
  const timedOut = agents.filter((agent) => agent.status === 'timed_out').length
  return timedOut === agents.length || (timedOut > 0 && run.answers.length > 0) ? 'timeout' : 'error'
}

function makeResultFacts(run: CoordinationRun, finishReason: FinishReason): readonly RunFact[] {
  const result = buildResult(run, finishReason)
  const decided: RunFact = { type: 'run_decided', ...result }
  const winner = result.winner === null ? undefined : run.agents.get(result.winner)
  const isAsked = run.options.finalPresentation && finishReason === 'completed' && winner?.status === 'live'
  return isAsked ? [decided] : [decided, { type: 'run_ended', finishReason, details: result.details }]
}

/**
 * The leading answer wins unless it misses the quorum. In a consensus vote the gate judges the quorum, with the
 * verdict.
 */
function buildResult(run: CoordinationRun, finishReason: FinishReason): RunResult {
  const favourite = findFavourite(run, finishReason)
  const { winner, votes } = favourite
  const { quorum } = run.options
  if (run.isConsensus || quorum === null || winner === null || votes >= quorum) return favourite
  const missed = `Quorum not reached: ${winner} has ${formatCount(votes, 'vote')}, and ${quorum} are needed`
  const details = finishReason === 'timeout' ? `Time limit: ${missed}` : missed
  return { ...favourite, winner: null, label: null, details }
}

/** Most valid votes, then the order of registration; without votes the latest answer. */
function findFavourite(run: CoordinationRun, finishReason: FinishReason): RunResult {
  const votes = run.options.skipVoting ? new Map<string, number>() : tally(run)
  if (votes.size === 0) return findLatestAnswer(run, finishReason)
  const most = Math.max(...votes.values())
  // `tally` keeps the order of registration.
  const tied = [...votes].flatMap(([id, count]) => (count === most ? [id] : []))
  const winner = tied.find((id) => run.newest.has(id)) ?? null
  const cast = [...votes.values()].reduce((sum, count) => sum + count, 0)
  const isTie = tied.length > 1
  const won = `${winner} won with ${most} of ${formatCount(cast, 'vote')}`
  const details = isTie ? `${won}, tied with ${tied.filter((id) => id !== winner).join(', ')} (${TIE_BROKEN})` : won
  return {
    winner,
    label: winner === null ? null : (run.newest.get(winner)?.label ?? null),
    isTie,
    votes: most,
    finishReason,
    details: finishReason === 'timeout' ? `Time limit: ${details}` : details,
  }
}

function findLatestAnswer(run: CoordinationRun, finishReason: FinishReason): RunResult {
  const latest = run.answers.at(-1)
  const none = { winner: null, label: null, isTie: false, votes: 0, finishReason }
  if (latest === undefined)
    return {
      ...none,
      details:
        finishReason === 'timeout' ? NO_ANSWERS_IN_TIME : 'No answers available: every agent failed or was stopped',
    }
  const why: Readonly<Record<FinishReason, string>> = {
    completed: '',
    timeout: 'Time limit without votes: ',
    error: 'No agent is left and nobody voted: ',
    cancelled: 'Cancelled: ',
  }
  return {
    ...none,
    winner: latest.agent,
    label: latest.label,
    details: `${why[finishReason]}the latest answer, ${latest.label} of ${latest.agent}, counts`,
  }
}
