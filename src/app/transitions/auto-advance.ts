import type { Contract } from '../../core/contract/contract.js'
import { findAutoTarget } from '../../core/gates/auto-advance.js'
import { needs } from '../../core/gates/needs.js'
import type { Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { type App, makeContext, StoreUnavailable } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { buildPrompt, type Grant, issuePhaseToken, makeGrant } from '../identity/grant.js'
import type { CommandResult } from '../ledger/ledger.js'
import { ok, type Result } from '../result.js'
import { runWithPathLease } from '../tasks/path-leases.js'
import { toBlockerView } from '../tasks/views.js'
import { runWhileChecking } from './checking.js'
import { gatherEvidence } from './checkpoint.js'
import { gather } from './gather.js'
import { readCommitTime } from './newest-commit.js'

/** Says that the task's gates are to be looked at once the call that is running now has ended. */
export function wantAdvance(app: App, call: AgentCall<Bearer>): void {
  if (findAutoTarget(call.contract, call.state) !== null) app.advancing.add(call.state.id)
}

/** The answer of an agent's call and, where that call made the gates open, the phase that Phaselock took the task to; `since`: when the call came. */
export async function advanceAfterCall(
  app: App,
  call: AgentCall<Bearer>,
  { answer, since }: { readonly answer: Result<JsonObject>; readonly since: number },
): Promise<Result<JsonObject>> {
  if (!answer.ok || call.bearer.kind === 'review' || !app.advancing.has(call.state.id)) return answer
  const done = await app.longGates.soon(advance(app, call.state.id), since)
  // The next call of the agent finds the task where Phaselock took it.
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
  const passed = events.find((event) => event.type === 'gate_passed')
  const warnings = passed?.type === 'gate_passed' ? passed.warnings.map(toBlockerView) : []
  return { phase: state.phase, status: state.status, warnings }
}

/** What an answer that was lost has to say of the phase: the token is for the agent that Phaselock took along, and for nobody else. */
export async function repeatAdvancedAnswer(app: App, ran: Grant): Promise<JsonObject> {
  const state = await app.ledger.read(ran.taskId)
  const isSame = state?.advancedTo === ran.epoch + 1 && state.epoch === ran.epoch + 1
  if (state === null || !isSame || state.held?.agentId !== ran.agentId) return {}
  return buildAdvancedAnswer(app, { state, events: [], refusal: null }, makeGrant(state, ran.agentId))
}

/**
 * Makes the transition itself where every gate advances by itself and all its checks hold; null: nothing happened,
 * and nothing is held against the agent.
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
  // Whichever call ends last looks at the gates: a tool that still runs is not ended for something nobody asked for.
  if (app.checking.has(taskId) || app.running.isBusy(taskId)) return null
  app.advancing.delete(taskId)
  try {
    return await runWhileChecking(app, { contract, state }, () => move(app, { contract, state, target }))
  } catch (error) {
    // The call that led here has its answer: that the store is gone for a moment does not undo it.
    if (!(error instanceof StoreUnavailable)) throw error
    app.advancing.add(taskId)
    return null
  }
}

async function move(
  app: App,
  one: { readonly contract: Contract; readonly state: TaskState; readonly target: string },
): Promise<CommandResult | null> {
  const { contract, state, target } = one
  const needed = needs(contract, state, { target, claims: [] })
  if (needed === null) return null
  const committedAt = await readCommitTime(app, { contract, state })
  const evidence = await gatherEvidence(app, state, { needed, sent: null })
  const gathered = await gather(app, contract, state, {
    needed,
    offer: { artifacts: new Map(), evidence },
    isAuto: true,
  })
  const apply = async (): Promise<Result<CommandResult | null>> => {
    const done = await app.ledger.apply(
      { taskId: state.id, contract },
      {
        ...({ type: 'transition', target, claims: [], auto: true } as const),
        ...{ currentPhase: state.phase, facts: gathered.facts, committedAt },
      },
      makeContext(app, 'orchestrator'),
      { blobs: gathered.blobs },
    )
    return ok(done)
  }
  const agentId = state.held?.agentId ?? ''
  const leased = await runWithPathLease(
    app,
    { state, contract, phase: target === state.phase ? '' : target, agentId },
    apply,
  )
  const handled = leased.ok ? leased.value : null
  if (handled === null || handled.events.length === 0) return null
  if (gathered.index !== null) {
    app.trees.settle(state.workspace, gathered.index)
    app.trees.mark(state.workspace, state.id, handled.state.phase)
  }
  return handled
}
