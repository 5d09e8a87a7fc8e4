import { type CoordinationRun, isPresenting } from '../councils/council.js'

/** How far the reviewers are: who, never what they said. */
export interface ConsensusProgress {
  readonly voters: readonly string[]
  /** Those whose vote stands. */
  readonly voted: readonly string[]
  /** Those with an answer. */
  readonly answered: readonly string[]
  /** Those that take part no more, without a vote. */
  readonly gone: readonly string[]
  /** Those that the run goes on waiting for. */
  readonly awaited: readonly string[]
}

/** Read off the run as it is now. */
export function buildConsensusProgress(run: CoordinationRun): ConsensusProgress {
  const all = [...run.agents.values()]
  const isAnswered = (id: string): boolean => run.newest.has(id)
  const open = all.filter((agent) => agent.vote === null)
  const live = open.filter((agent) => agent.status === 'live').map(({ id }) => id)
  const winner = run.result?.winner ?? null
  const awaited = run.options.skipVoting ? live.filter((id) => !isAnswered(id)) : live
  return {
    voters: all.map(({ id }) => id),
    voted: all.filter((agent) => agent.vote !== null).map(({ id }) => id),
    answered: all.map(({ id }) => id).filter(isAnswered),
    gone: open.filter((agent) => agent.status !== 'live').map(({ id }) => id),
    awaited: run.endedAt !== null ? [] : isPresenting(run) ? (winner === null ? [] : [winner]) : awaited,
  }
}
