import type { Contract } from '../../core/contract/contract.js'
import { listClaimedTasks } from '../../core/gates/phase-tasks.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { Json, JsonObject } from '../../core/json.js'
import { findClaimedTarget } from '../../core/task/claimed-target.js'
import { nextStep } from '../../core/task/next-step.js'
import { describeParked } from '../../core/task/refusal.js'
import type { TaskState } from '../../core/task/state.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import { listRules } from '../../core/watch/watch.js'
import type { App } from '../app.js'
import { type AdmitOptions, type AgentCall, admitCall, applyAs, buildAgentHelp } from '../identity/agent-call.js'
import { buildPrompt } from '../identity/grant.js'
import type { Once } from '../kept-answer.js'
import { noTask, ok, type Result, refuse, toProblem } from '../result.js'
import { answerSoon } from '../transitions/answer-soon.js'
import { readCommitTime } from '../transitions/newest-commit.js'
import { runTransition } from '../transitions/request-transition.js'
import { findInterrupt } from './interrupts.js'
import { listAllowedTools } from './views.js'

/** The prompt of the phase or, while a rule is violated, the interrupt instead. */
export async function getPrompt(
  app: App,
  bearer: AgentBearer,
  options: AdmitOptions = {},
): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, bearer, undefined, options)
  if (!admitted.ok) return admitted
  const call = admitted.value
  if (listRules(call.contract, call.state).length === 0)
    return ok(await buildPromptView(app, call.contract, call.state))
  const handled = await applyAs(app, call, { type: 'watch', at: 'prompt', stays: true, committedAt: null })
  return handled.ok ? ok(await buildPromptView(app, call.contract, handled.value.state)) : handled
}

/** What the agent of a task is told now, for operators. Rules are not judged again: only an agent's call does that. */
export async function showTaskPrompt(app: App, taskId: string): Promise<Result<JsonObject>> {
  const state = await app.ledger.read(taskId)
  if (state === null) return noTask(taskId)
  const contract = await app.contracts.get(state.contract.hash)
  return ok({
    task_id: state.id,
    ...(await buildPromptView(app, contract, state)),
    allowed_tools: listAllowedTools(contract, state),
    next_step: nextStep(contract, state, app.checking.findGateRun(taskId)),
  })
}

interface NextRequest {
  readonly bearer: AgentBearer
  readonly taskId: string | undefined
  readonly claims: readonly string[]
  readonly artifacts: ReadonlyMap<string, Json>
  readonly evidence: JsonObject | null
  readonly once: Once | undefined
}

/** Checks the rules, then tries the transition that the statements lead to, or stays. */
export function nextPrompt(app: App, request: NextRequest): Promise<Result<JsonObject>> {
  return answerSoon(app, { ...request, kind: 'next', target: '' }, () => nextNow(app, request))
}

async function nextNow(app: App, request: NextRequest): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, request.bearer, request.taskId)
  if (!admitted.ok) return admitted
  const call = admitted.value
  const target = findClaimedTarget(call.contract, call.state, request.claims)
  if (listRules(call.contract, call.state).length > 0) {
    const committedAt = await readCommitTime(app, call)
    const command = { type: 'watch', at: 'next', stays: target === null, committedAt } as const
    const watched = await applyAs(app, call, command)
    if (!watched.ok) return watched
    if (watched.value.state.watch.open !== null)
      return ok(await buildPromptView(app, call.contract, watched.value.state))
  }
  const done = await finishTasks(app, call, request.claims)
  if (!done.ok) return done
  if (target === null)
    return ok({
      ...(await buildPromptView(app, call.contract, done.value)),
      ...buildAgentHelp(call.contract, done.value),
    })
  const { bearer, taskId, claims, artifacts, evidence, once } = request
  const moved = await runTransition(app, {
    ...{ bearer, taskId, claims, artifacts, evidence, once, target },
    currentPhase: null,
    answersPrompt: true,
  })
  return moved.ok ? ok(await addPrompt(app, moved.value, call.state.id)) : moved
}

// The statements that name tasks of the phase, in the phase's order: each must be the current one.
async function finishTasks(app: App, call: AgentCall, claims: readonly string[]): Promise<Result<TaskState>> {
  let { state } = call
  for (const task of listClaimedTasks(requirePhase(call.contract, state.phase), claims)) {
    const handled = await applyAs(app, call, { type: 'finish_task', task })
    if (!handled.ok) return handled
    state = handled.value.state
    if (handled.value.refusal !== null) return toProblem(handled.value.refusal, buildAgentHelp(call.contract, state))
  }
  return ok(state)
}

/** The answer to a transition, with the text that says what to do now. */
export async function addPrompt(app: App, answer: JsonObject, taskId: string): Promise<JsonObject> {
  if (answer.interrupt !== undefined) return { ...answer, ...(answer.interrupt as JsonObject) }
  if (answer.completed === true) return { ...answer, kind: 'prompt', text: `Task ${taskId} is completed.` }
  if (typeof answer.prompt === 'string') return { ...answer, kind: 'prompt', text: answer.prompt }
  const state = await app.ledger.read(taskId)
  if (state === null) return answer
  return { ...(await buildPromptView(app, await app.contracts.get(state.contract.hash), state)), ...answer }
}

/** Acknowledges the violation that was shown, and returns the phase's prompt without checking anything. */
export async function continuePrompt(
  app: App,
  bearer: AgentBearer,
  taskId: string | undefined,
): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, bearer, taskId)
  if (!admitted.ok) return admitted
  const call = admitted.value
  if (call.state.watch.open === null) return ok(await buildPromptView(app, call.contract, call.state))
  const handled = await applyAs(app, call, { type: 'acknowledge' })
  if (!handled.ok) return handled
  const { state } = handled.value
  if (state.status === 'parked')
    return refuse('task_not_active', describeParked(state.id, state.parkedReason), {
      next_step: 'Wait: an operator must resume the task.',
    })
  return ok(await buildPromptView(app, call.contract, state))
}

async function buildPromptView(app: App, contract: Contract, state: TaskState): Promise<JsonObject> {
  const interrupt = findInterrupt(state)
  return interrupt ?? { kind: 'prompt', text: await buildPrompt(app, contract, state), phase: state.phase }
}
