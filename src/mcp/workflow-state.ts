import type { AgentCall } from '../app/agent-call.js'
import { helpOf } from '../app/agent-call.js'
import { isoTime } from '../app/wire.js'
import type { JsonObject } from '../core/contract.js'

/** Where a task stands, for the agent that holds it. Of phases that are not open yet it says nothing. */
export function workflowState({ contract, state }: AgentCall): JsonObject {
  const { task_id: _id, phase: _phase, ...help } = helpOf(contract, state)
  const artifacts: Record<string, Record<string, JsonObject>> = {}
  for (const { type, phase, sha256, bytes, grade } of state.artifacts.values()) {
    const ofPhase = artifacts[phase] ?? {}
    artifacts[phase] = { ...ofPhase, [type]: { sha256, bytes, grade } }
  }
  return {
    session_id: state.id,
    workflow_type: contract.name,
    status: state.status,
    current_phase: state.phase,
    completed_phases: state.completedPhases,
    checkpoints: Object.fromEntries([
      ...state.completedPhases.map((id) => [id, 'passed'] as const),
      ...(state.status === 'completed' ? [] : [[state.phase, 'pending'] as const]),
    ]),
    phase_artifacts: artifacts,
    updated_at: isoTime(state.updatedAt),
    ...help,
  }
}
