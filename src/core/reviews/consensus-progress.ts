import { type CoordinationRun, isPresenting } from '../councils/council.js'

/** Progress of the reviewers: who, never what they said. */
interface ConsensusProgress {
  readonly voters: readonly string[]
  /** Those with a valid vote. */
  readonly voted: readonly string[]
  /** Those with an answer. */
  readonly answered: readonly string[]
  /** Those that are out, without a vote. */
  readonly gone: readonly string[]
  /** Those still missing. */
  readonly awaited: readonly string[]
}

/** Read from the council's current state. */
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
