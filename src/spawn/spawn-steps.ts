import { type App, contextOf } from '../app/app.js'
import { keepUnder, type Once } from '../app/kept-answer.js'
import { noTask, ok, type Result, refuse, toProblem } from '../app/result.js'
import { createTask, findContract, type TaskRequest } from '../app/tasks/operate.js'
import { openSandbox } from '../app/tool-calls/contract-sandbox.js'
import type { Spawn, SpawnAdapter } from '../core/contract/agent-programs.js'
import type { Contract } from '../core/contract/contract.js'
import type { JsonObject } from '../core/json.js'
import type { Refusal } from '../core/task/refusal.js'
import type { TaskState } from '../core/task/state.js'
import type { ChosenProgram } from './spawn-request.js'
import { findEnd } from './task-view.js'

/** An existing task, or one to create. */
export type SpawnTask = { readonly taskId: string } | { readonly task: TaskRequest }

export interface By {
  readonly actor: string
  readonly once: Once | undefined
}

/** The contract that the agent will work under. */
export async function resolveContract(app: App, about: SpawnTask): Promise<Result<Contract>> {
  if ('taskId' in about) {
    const state = await app.ledger.peek(about.taskId)
    if (state === null) return noTask(about.taskId)
    const taken = refuseUnreservable(state)
    return taken === null ? ok(await app.contracts.get(state.contract.hash)) : toProblem(taken, {}, false)
  }
  const { contract, id } = about.task
  // Checked before the start is recorded: the ledger would redact the name.
  if (id !== undefined && app.redact(id) !== id)
    return refuse('invalid_request', 'task.id: looks like a secret; choose another.')
  if (id !== undefined && (await app.ledger.peek(id)) !== null)
    return refuse('conflict', `Task ${JSON.stringify(id)} already exists.`)
  const hash = contract === undefined ? app.defaultContract : findContract(app, contract)
  if (hash === null) return refuse('not_found', `There is no contract ${JSON.stringify(contract)}.`)
  return ok(await app.contracts.get(hash))
}

/** Written first, so that the next server knows about it even if this one is killed. */
export async function recordSpawn(
  app: App,
  { agentId, entryName, program }: ChosenProgram,
  about: { readonly contract: Contract; readonly taskId: string; readonly adapter: SpawnAdapter },
  { actor, once }: By,
): Promise<Refusal | null> {
  const { taskId, adapter } = about
  const sandbox = await openSandbox(app, about.contract)
  const unenforced = [...new Set(sandbox.missing.map((missing) => missing.guarantee))]
  return app.ledger.record(
    { type: 'agent_spawned', agentId, taskId, review: null, entry: entryName, program, adapter, unenforced },
    { now: app.now(), actor },
    makeRemember(once, 201, { agentId, taskId }),
  )
}

/** The answer to a repeated call with its key: the agent's current state. */
export function makeRemember(
  once: Once | undefined,
  status: number,
  { agentId, taskId }: Pick<Spawn, 'agentId' | 'taskId'>,
): Parameters<App['ledger']['record']>[2] {
  return { remember: keepUnder(once, status, () => ({ spawn: { agent_id: agentId, task_id: taskId } })) }
}

/** Creates the task for the agent, or reserves the named one. The answer describes a new work tree. */
export async function prepareTask(
  app: App,
  about: SpawnTask,
  { taskId, agentId }: { readonly taskId: string; readonly agentId: string },
  by: By,
): Promise<Result<JsonObject>> {
  if ('taskId' in about) return reserve(app, { taskId, agentId }, by)
  const request = { ...about.task, id: taskId, reservedFor: agentId }
  const created = await createTask(app, request, { ...by, once: undefined })
  if (!created.ok) return created
  const { workspace = null, worktree, uncommitted } = created.value
  return ok(worktree === undefined || uncommitted === undefined ? {} : { workspace, worktree, uncommitted })
}

/** Decided on the current state: of two callers that want the same task, one gets it. */
async function reserve(
  app: App,
  { taskId, agentId }: { readonly taskId: string; readonly agentId: string },
  by: By,
): Promise<Result<JsonObject>> {
  const state = await app.ledger.peek(taskId)
  if (state === null) return noTask(taskId)
  const contract = await app.contracts.get(state.contract.hash)
  const command = { type: 'reassign', agentId, reason: `started agent ${agentId} for it` } as const
  const handled = await app.ledger.apply({ taskId, contract }, command, contextOf(app, by.actor), {
    guard: refuseUnreservable,
  })
  const refusal = handled?.refusal ?? null
  return refusal === null ? ok({}) : toProblem(refusal, {}, false)
}

/** Takes the task from a stopped agent: others can claim it, or it is parked. */
export async function giveBack(
  app: App,
  { agentId, taskId }: Spawn,
  about: { readonly park: boolean; readonly reason: string },
  by: By,
): Promise<void> {
  const state = await app.ledger.peek(taskId)
  if (state === null || findEnd(state, agentId) !== null) return
  const contract = await app.contracts.get(state.contract.hash)
  const reason = `agent ${agentId} was stopped: ${about.reason}`
  const guard = (now: TaskState): Refusal | null =>
    findEnd(now, agentId) === null
      ? null
      : { code: 'conflict', detail: `Task ${taskId} is no longer held by this agent.` }
  const command = about.park
    ? ({ type: 'park', reason } as const)
    : ({ type: 'reassign', agentId: null, reason } as const)
  await app.ledger.apply({ taskId, contract }, command, contextOf(app, by.actor), { guard })
}

/** Why the task cannot be given to an agent now. */
function refuseUnreservable(state: TaskState): Refusal | null {
  if (state.status !== 'queued' && state.status !== 'interrupted') {
    if (state.held !== null && (state.status === 'active' || state.status === 'awaiting_approval'))
      return { code: 'already_claimed', detail: `Task ${state.id} is held by agent ${state.held.agentId}.` }
    return { code: 'task_not_active', detail: `Task ${state.id} is ${state.status}.` }
  }
  return state.reservedFor === null
    ? null
    : { code: 'already_claimed', detail: `Task ${state.id} is reserved for agent ${state.reservedFor}.` }
}
