import type { TaskEvent } from '../task/event.js'
import type { TaskState } from '../task/state.js'

export function applyCheckpointPassed(state: TaskState, event: TaskEvent & { type: 'checkpoint_passed' }): TaskState {
  const { at, sha256 = null, bytes = 0, proofs = {} } = event
  const checkpoint = { visit: state.visit, at, sha256, bytes, proofs }
  return {
    ...state,
    evidence: new Map(state.evidence).set(event.phase, event.evidence),
    checkpoints: new Map(state.checkpoints).set(event.phase, checkpoint),
  }
}

/** A refused attempt is stored too and takes space like an accepted one. */
export function addBytes(state: TaskState, bytes: number | undefined): TaskState {
  return bytes === undefined ? state : { ...state, visitBytes: state.visitBytes + bytes }
}
