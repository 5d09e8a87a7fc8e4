import { findAutoTarget } from '../../core/gates/auto-advance.js'
import { needs } from '../../core/gates/needs.js'
import type { Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import { type App, StoreUnavailable } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { buildPrompt, issuePhaseToken, makeGrant } from '../identity/grant.js'
import type { Grant } from '../kept-answer.js'
import type { CommandResult } from '../ledger/ledger.js'
import { noTask, ok, type Result } from '../result.js'
import { toBlockerView } from '../tasks/views.js'
import { makeTaskContext } from '../tool-calls/contract-paths.js'
import { makeTransition } from './make-transition.js'

/** Queues the task's gates to be checked after the current call. */
export function wantAdvance(app: App, call: AgentCall<Bearer>): void {
  if (findAutoTarget(call.contract, call.state) !== null) app.advancing.add(call.state.id)
}

/**
 * The answer of an agent's call and, if the call opened the gates, the phase that Phaselock moved the task to; `since`:
 * when the call came.
 */
export async function advanceAfterCall(
  app: App,
  call: AgentCall<Bearer>,
  { answer, since }: { readonly answer: Result<JsonObject>; readonly since: number },
): Promise<Result<JsonObject>> {
  if (!answer.ok || call.bearer.kind === 'review' || !app.advancing.has(call.state.id)) return answer
  const done = await app.longGates.soon(advance(app, call.state.id), since)
  // The agent's next call finds the task in the new phase.
  if (done === 'later') return { ok: true, value: { ...answer.value, advancing: true } }
  if (done === null || done.state.held?.agentId !== call.bearer.agentId) return addCompletion(answer, done)
  const grant = makeGrant(done.state, call.bearer.agentId)
  return { ok: true, value: { ...answer.value, ...(await buildAdvancedAnswer(app, done, grant)) } }
}

function addCompletion(answer: Result<JsonObject> & { ok: true }, done: CommandResult | null): Result<JsonObject> {
  if (done?.state.status !== 'completed') return answer
  const token = { phase_token: null, expires_at: null, allowed_tools: [] }
  return {
    ok: true,
    value: { ...answer.value, ...token, advanced: { ...describeAdvance(done), ...token, prompt: null } },
  }
}

async function buildAdvancedAnswer(app: App, done: CommandResult, grant: Grant): Promise<JsonObject> {
  const contract = await app.contracts.get(grant.contract)
  const token = await issuePhaseToken(app, grant)
  const prompt = await buildPrompt(app, contract, done.state)
  return { ...token, advanced: { ...describeAdvance(done), ...token, prompt } }
}

function describeAdvance({ state, events }: CommandResult): JsonObject {
  const warnings = (events.find((event) => event.type === 'gate_passed')?.warnings ?? []).map(toBlockerView)
  return { phase: state.phase, status: state.status, warnings }
}

/** What a repeated answer says about the phase: only the agent that Phaselock moved gets the token. */
export async function repeatAdvancedAnswer(app: App, ran: Grant): Promise<JsonObject> {
  const state = await app.ledger.read(ran.taskId)
  const isSame = state?.advancedTo === ran.epoch + 1 && state.epoch === ran.epoch + 1
  if (state === null || !isSame || state.held?.agentId !== ran.agentId) return {}
  return buildAdvancedAnswer(app, { state, events: [], refusal: null }, makeGrant(state, ran.agentId))
}

/**
 * Makes the transition if every gate advances automatically and all its checks pass; null: nothing happened, and
 * nothing counts against the agent.
 */
export async function advance(app: App, taskId: string): Promise<CommandResult | null> {
  const state = await app.ledger.peek(taskId)
  if (state === null || app.ledger.registry.paused !== null) return null
  const contract = await app.contracts.get(state.contract.hash)
  const target = findAutoTarget(contract, state)
  if (target === null) {
    app.advancing.delete(taskId)
    return null
  }
  // The call that ends last checks the gates: a running tool is not stopped for a transition that nobody requested.
  if (app.checking.has(taskId) || app.running.isBusy(taskId)) return null
  app.advancing.delete(taskId)
  const needed = needs(contract, state, { target, claims: [] })
  if (needed === null) return null
  const wanted = {
    target,
    currentPhase: state.phase,
    claims: [],
    artifacts: new Map(),
    evidence: null,
    auto: true,
  } as const
  try {
    const made = await makeTransition(app, {
      ...{ contract, state, wanted, needed },
      apply: async (command, { blobs }) => {
        const context = makeTaskContext(app, 'orchestrator', { contract, state })
        const done = await app.ledger.apply({ taskId, contract }, command, context, { blobs })
        return done === null ? noTask(taskId) : ok(done)
      },
    })
    return made.ok && made.value.events.length > 0 ? made.value : null
  } catch (error) {
    // The call that led here already has its answer: a temporary store failure does not undo it.
    if (!(error instanceof StoreUnavailable)) throw error
    app.advancing.add(taskId)
    return null
  }
}
