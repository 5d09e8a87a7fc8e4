import type { Contract } from '../../core/contract/contract.js'
import { type AgentBearer, admit, type Bearer, formatBearerName } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import { REVIEW_TOOLS } from '../../core/reviews/review-tool.js'
import { isLostByLapse } from '../../core/task/claim.js'
import type { Command } from '../../core/task/command.js'
import { type GateRun, nextStep } from '../../core/task/next-step.js'
import { describeParked, type Refusal } from '../../core/task/refusal.js'
import type { TaskState } from '../../core/task/state.js'
import { type App, contextOf } from '../app.js'
import type { ApplyOptions, CommandResult } from '../ledger/ledger.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { takeUpAgain } from '../tasks/claim-task.js'
import { listAllowedTools } from '../tasks/views.js'
import { makeTaskContext } from '../tool-calls/contract-paths.js'
import { findInnerRepositories } from '../trees/inner-repositories.js'

/**
 * A call that was checked against the state of its task and admitted. It is an agent's, unless marked as possibly a
 * reviewer's.
 */
export interface AgentCall<B extends Bearer = AgentBearer> {
  readonly bearer: B
  readonly state: TaskState
  readonly contract: Contract
}

export interface AdmitOptions {
  /**
   * The client asks on its own, perhaps because it was notified of a change, so this does not show that its agent
   * works. A task lost by lease expiry is not resumed.
   */
  readonly isOnlyLooking?: true
}

/**
 * Finds the task of a token and checks the token against the task's state. Refused tokens are recorded with the task.
 */
export async function admitCall<B extends Bearer>(
  app: App,
  bearer: B,
  taskId: string | undefined,
  options: AdmitOptions = {},
): Promise<Result<AgentCall<B>>> {
  const found = bearer.kind === 'agent' ? await findTaskOfAgent(app, bearer, options) : ok(bearer.taskId)
  if (!found.ok) return found
  const id = found.value
  const first = await app.ledger.peek(id)
  // What superseded the token may not be written yet, and may never be: then the token still holds.
  const isSettled = first !== null && admit(first, bearer) !== null && (await app.ledger.settle(id))
  const state = isSettled ? await app.ledger.peek(id) : first
  if (state === null) return refuse('token_invalid', 'The task of this token is not in the store.')
  const contract = await app.contracts.get(state.contract.hash)
  const mismatch: Refusal | null =
    taskId !== undefined && taskId !== id
      ? { code: 'token_mismatch', detail: `The token was issued for task ${id}, not for ${taskId}.` }
      : null
  const refusal = mismatch ?? admit(state, bearer)
  if (refusal !== null) return refuseToken(app, { bearer, state, contract }, refusal)
  if (app.ledger.registry.paused !== null)
    return refuse('agents_paused', `All agents are paused: ${app.ledger.registry.paused}`)
  return ok({ bearer, state, contract })
}

/**
 * Refuses to show a task that the agent does not hold. If the task was taken from the agent while it waited, the
 * refusal says so.
 */
export async function refuseForeign(
  app: App,
  bearer: AgentBearer,
  { taskId, what }: { readonly taskId: string | undefined; readonly what: string },
): Promise<Result<never>> {
  if (bearer.kind === 'phase' && bearer.taskId === taskId) {
    const admitted = await admitCall(app, bearer, taskId)
    if (!admitted.ok) return admitted
  }
  return refuse('not_permitted', `An agent sees the ${what} of its own task only.`)
}

/**
 * Applies a command for the caller. The token is checked against the state on which the command is decided, not an
 * earlier one.
 */
export async function applyAs(
  app: App,
  call: AgentCall<Bearer>,
  command: Command,
  options: ApplyOptions = {},
): Promise<Result<CommandResult>> {
  const context = {
    ...makeTaskContext(app, formatBearerName(call.bearer), call),
    innerRepositories: findInnerRepositories(app, call, command),
  }
  const target = { taskId: call.state.id, contract: call.contract }
  let refused: Refusal | null = null
  const guard = (state: TaskState): Refusal | null => {
    refused = admit(state, call.bearer)
    return refused
  }
  const handled = await app.ledger.apply(target, command, context, { ...options, guard })
  if (handled === null) return refuse('token_invalid', 'The task of this token is not in the store.')
  if (refused !== null) return refuseToken(app, { ...call, state: handled.state }, refused, options.isHolding)
  return ok(handled)
}

/** Help for a refused agent: its allowed tools and the next legal step. */
export function buildAgentHelp(contract: Contract, state: TaskState, gateRun: GateRun | null = null): JsonObject {
  return {
    task_id: state.id,
    phase: state.phase,
    allowed_tools: listAllowedTools(contract, state),
    next_step: nextStep(contract, state, gateRun),
  }
}

/** Help for a refused reviewer. */
export function buildReviewerHelp(state: TaskState): JsonObject {
  const next_step = `Look at the work, then send your report to POST /tasks/${state.id}/reviews.`
  return { task_id: state.id, phase: state.phase, allowed_tools: REVIEW_TOOLS, next_step }
}

/** How a command records a caller that is not the agent. */
export function getReviewerField({ bearer }: AgentCall<Bearer>): { readonly reviewer?: string } {
  return bearer.kind === 'review' ? { reviewer: bearer.reviewer } : {}
}

async function refuseToken(app: App, call: AgentCall<Bearer>, refusal: Refusal, isHolding = false) {
  const { bearer } = call
  const context = contextOf(app, formatBearerName(bearer))
  const command: Command = {
    type: 'refuse_token',
    ...(bearer.kind === 'review' ? { reviewer: bearer.reviewer } : { agentId: bearer.agentId }),
    code: refusal.code,
    detail: refusal.detail,
  }
  if (app.tokenRefusals.admit(formatBearerName(bearer), context.now))
    await app.ledger.apply({ taskId: call.state.id, contract: call.contract }, command, context, { isHolding })
  if (bearer.kind === 'review')
    return toProblem(
      refusal,
      refusal.code === 'token_stale' ? { remedy: 'Ask an operator for a new review token.' } : {},
    )
  // A token for another task learns nothing about this task's phase except the refusal.
  return toProblem(
    refusal,
    refusal.code === 'task_not_active' ? { next_step: nextStep(call.contract, call.state) } : {},
  )
}

// An agent that was idle for longer than its lease continues, if its task is still free.
async function findTaskOfAgent(
  app: App,
  bearer: AgentBearer & { kind: 'agent' },
  { isOnlyLooking }: AdmitOptions,
): Promise<Result<string>> {
  const { agentId } = bearer
  const held = await findHeldTask(app, agentId)
  // The lapse of the lease may be decided and not on disk yet: the newest state decides.
  const newest = held === null ? null : await app.ledger.peek(held)
  if (held !== null && (newest === null || !isLostByLapse(newest, bearer))) return ok(held)
  const isWorking = isOnlyLooking !== true && app.ledger.registry.paused === null
  const again = isWorking ? await takeUpAgain(app, bearer, held) : null
  if (again?.ok === true) return again
  // Another call of the agent may have resumed it meanwhile.
  const now = await findHeldTask(app, agentId)
  if (now !== null) return ok(now)
  return again ?? refuseWithoutTask(app, agentId)
}

async function findHeldTask(app: App, agentId: string): Promise<string | null> {
  return (await app.ledger.store.findHeldBy(agentId))?.id ?? null
}

async function refuseWithoutTask(app: App, agentId: string) {
  const parked = await app.ledger.store.queryTasks({ agentId, status: 'parked', limit: 1 })
  const [row] = parked.items
  if (row === undefined)
    return refuse('no_active_task', `Agent ${agentId} holds no task.`, { next_step: 'Claim a task.' })
  const state = await app.ledger.read(row.id)
  return refuse('task_not_active', describeParked(row.id, state?.parkedReason), {
    next_step: 'Wait: an operator must resume the task.',
  })
}
