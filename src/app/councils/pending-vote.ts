import type { Contract } from '../../core/contract/contract.js'
import type { Json } from '../../core/json.js'
import { buildConsensusProgress } from '../../core/reviews/consensus-progress.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { toIsoTimeOrNull } from '../wire.js'

/**
 * The vote that the transition waits for: its id, its progress and who is missing; null when there is none. Never its
 * contents.
 */
export async function toPendingVoteView(app: App, contract: Contract, state: TaskState): Promise<Json> {
  if (state.consensus === null || state.consensus.visit !== state.visit) return null
  if (state.status === 'completed' || state.status === 'cancelled') return null
  // Only the newest vote of a visit is open: it ended the earlier ones.
  const id = state.consensus.runs.at(-1)?.id
  if (id === undefined) return null
  const run = await app.coordinations.read(id)
  if (run !== null && run.endedAt !== null) return null
  // Requested but not opened because the server stopped in between: everybody is missing.
  const asked = contract.phases.get(state.phase)?.consensus ?? null
  const voters = asked?.voters.map((voter) => voter.id) ?? []
  const progress =
    run === null ? { voters, voted: [], answered: [], gone: [], awaited: voters } : buildConsensusProgress(run)
  const quorum = run === null ? (asked?.options.quorum ?? null) : run.options.quorum
  return { id, ...progress, quorum, started_at: toIsoTimeOrNull(run?.startedAt ?? null) }
}
