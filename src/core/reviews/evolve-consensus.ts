import type { TaskEvent } from '../task/event.js'
import type { TaskState } from '../task/state.js'

/** Remembers which run was asked for over which subject. A new visit begins anew. */
export function applyConsensusRequested(
  state: TaskState,
  event: TaskEvent & { type: 'consensus_requested' },
): TaskState {
  const { runId, subject } = event
  const before = state.consensus?.visit === state.visit ? state.consensus.runs : []
  const asked = (state.consensus?.asked ?? 0) + 1
  return { ...state, consensus: { visit: state.visit, runs: [...before, { id: runId, subject }], asked } }
}
