import type { App } from '../app/app.js'
import { type AgentCall, buildAgentHelp } from '../app/identity/agent-call.js'
import { collectDecisions } from '../app/transitions/decisions.js'
import { collectOutputs } from '../app/transitions/phase-content.js'
import { toIsoTime } from '../app/wire.js'
import { formatPhaseName } from '../core/gates/phase-visibility.js'
import type { JsonObject } from '../core/json.js'

/** The state of a task, for the agent that holds it. Says nothing about phases that are not open yet. */
export async function buildWorkflowState(app: App, { contract, state }: AgentCall): Promise<JsonObject> {
  const { task_id: _id, phase: _phase, ...help } = buildAgentHelp(contract, state, app.checking.findGateRun(state.id))
  const completed = state.completedPhases.map((id) => formatPhaseName(contract, id))
  const current = formatPhaseName(contract, state.phase)
  return {
    session_id: state.id,
    workflow_type: contract.name,
    status: state.status,
    checking: app.checking.isChecking(state.id),
    current_phase: current,
    completed_phases: completed,
    checkpoints: Object.fromEntries([
      ...completed.map((name) => [String(name), 'passed'] as const),
      [String(current), state.status === 'completed' ? 'passed' : 'pending'],
    ]),
    phase_artifacts: await collectOutputs(app, contract, state),
    ...(await collectDecisions(app, state)),
    updated_at: toIsoTime(state.updatedAt),
    ...help,
  }
}
