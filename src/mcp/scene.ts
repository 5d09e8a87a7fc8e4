import { admitCall } from '../app/agent-call.js'
import type { App } from '../app/app.js'
import type { AgentBearer } from '../core/admit.js'
import type { Code } from '../core/codes.js'
import type { Contract } from '../core/contract.js'
import type { TaskState } from '../core/state.js'
import { refusalError } from './results.js'

/** What an agent is shown when it only looks around: its task and contract, or what a new task would be under. */
export interface Scene {
  readonly contract: Contract
  readonly state: TaskState | null
}

// Not working now is no reason not to look around; a token that is not good any more is.
const IDLE: ReadonlySet<Code> = new Set<Code>(['no_active_task', 'task_not_active', 'agents_paused'])

export async function sceneOf(app: App, bearer: AgentBearer): Promise<Scene> {
  const call = await admitCall(app, bearer, undefined)
  if (call.ok) return { contract: call.value.contract, state: call.value.state }
  if (!IDLE.has(call.problem.code)) throw refusalError(call.problem)
  return { contract: await app.contracts.get(app.defaultContract), state: null }
}
