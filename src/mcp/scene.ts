import type { App } from '../app/app.js'
import { admitCall } from '../app/identity/agent-call.js'
import { ok, type Result } from '../app/result.js'
import { findLostTask } from '../app/tasks/claim-task.js'
import type { Code } from '../core/codes.js'
import type { Contract } from '../core/contract/contract.js'
import type { AgentBearer } from '../core/identity/admit.js'
import type { TaskState } from '../core/task/state.js'
import { toRefusalError } from './results.js'

/** What an agent sees before it works: its task and contract, or the contract of a new task. */
interface Scene {
  readonly contract: Contract
  readonly state: TaskState | null
}

// An agent without a task may look; one with an invalid token may not.
const IDLE: ReadonlySet<Code> = new Set<Code>(['no_active_task', 'task_not_active', 'agents_paused'])

export async function readScene(app: App, bearer: AgentBearer): Promise<Scene> {
  const found = await findScene(app, bearer)
  if (!found.ok) throw toRefusalError(found.problem)
  return found.value
}

export async function findScene(app: App, bearer: AgentBearer): Promise<Result<Scene>> {
  const call = await admitCall(app, bearer, undefined, { isOnlyLooking: true })
  if (call.ok) return ok({ contract: call.value.contract, state: call.value.state })
  if (!IDLE.has(call.problem.code)) return call
  // The next call resumes it, so show what the agent can do then.
  const lost = bearer.kind === 'agent' ? await findLostTask(app, bearer) : null
  if (lost !== null) return ok({ contract: await app.contracts.get(lost.contract.hash), state: lost })
  return ok({ contract: await app.contracts.get(app.defaultContract), state: null })
}
