import type { TaskEvent } from '../task/event.js'
import type { TaskState } from '../task/state.js'

/** Records which council was requested for which subject. A new visit starts over. */
export function applyConsensusRequested(
  state: TaskState,
  event: TaskEvent & { type: 'consensus_requested' },
): TaskState {
  const { runId, subject } = event
  const before = state.consensus?.visit === state.visit ? state.consensus.runs : []
  const asked = (state.consensus?.asked ?? 0) + 1
  return { ...state, consensus: { visit: state.visit, runs: [...before, { id: runId, subject }], asked } }
}
