import type { Contract } from '../contract/contract.js'
import { completesOnEntry } from '../gates/transition-rules.js'
import { makeSlotFacts } from '../reviews/reviewer-slots.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import type { Command, Context } from './command.js'
import { decideLapse, findCrashRule } from './crash.js'
import type { TaskFact } from './event.js'
import { type Decision, makeDecision, refuseUnrecorded } from './refusal.js'
import type { TaskState } from './state.js'
import { isWaitingForPeople } from './waiting.js'

/** Gives the task to the agent, or back to the agent that already holds it (resume), with a new epoch either way. */
export function claim(
  contract: Contract,
  state: TaskState,
  command: Command & { type: 'claim' },
  context: Context,
): Decision {
  if (state.status === 'completed' || state.status === 'cancelled' || state.status === 'parked')
    return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  const holder = state.held
  const resumes = holder !== null && holder.agentId === command.agentId
  const isKept =
    holder !== null && (holder.leaseExpiresAt > context.now || isWaitingForPeople(contract, state, context.now))
  if (isKept && !resumes)
    return refuseUnrecorded('already_claimed', `Task ${state.id} is held by agent ${holder.agentId}.`)
  if (state.reservedFor !== null && state.reservedFor !== command.agentId)
    return refuseUnrecorded('already_claimed', `Task ${state.id} is reserved for agent ${state.reservedFor}.`)
  if (command.openDependencies.length > 0)
    return refuseUnrecorded('conflict', `Task ${state.id} waits for ${command.openDependencies.join(', ')}.`)
  const lacking = state.requires.filter((capability) => !command.capabilities.includes(capability))
  if (lacking.length > 0)
    return refuseUnrecorded('not_permitted', `Task ${state.id} requires the capabilities ${lacking.join(', ')}.`)

  if (state.claimableAt !== null && state.claimableAt > context.now)
    return refuseUnrecorded('task_not_active', formatBackOff(state, state.claimableAt - context.now))

  const facts: TaskFact[] = []
  if (holder !== null && !resumes) facts.push(...decideLapse(contract, state, context.now))
  // The lease expired unnoticed: the first caller records that and waits like all others.
  if (facts.length > 0 && findCrashRule(contract, state) !== undefined)
    return makeDecision(facts, {
      code: 'task_not_active',
      detail: `Agent ${holder?.agentId ?? ''} lost the lease of task ${state.id} just now; it cannot be claimed yet.`,
    })
  facts.push({
    type: 'task_claimed',
    agentId: command.agentId,
    instance: command.instance,
    capabilities: command.capabilities,
    leaseSeconds: contract.enforcement.leaseSeconds,
    resumed: resumes || state.visit > 0,
    ...(command.isSpawned === true || (resumes && holder.isSpawned === true) ? { isSpawned: true } : {}),
  })
  if (state.visit === 0) {
    facts.push({ type: 'phase_entered', from: null, to: state.phase, visit: 1, artifacts: [], back: false })
    facts.push(...makeSlotFacts(contract, state.phase, false))
    if (completesOnEntry(contract, requirePhase(contract, state.phase))) facts.push({ type: 'task_completed' })
  }
  return makeDecision(facts)
}

/** Whether this agent lost the task only by lease expiry, and nobody has taken it or decided otherwise since. */
export function isLostByLapse(
  state: TaskState,
  agent: { readonly agentId: string; readonly instance: string },
): boolean {
  const { lapsed } = state
  // Phaselock restarts its own agents.
  if (state.status !== 'interrupted' || lapsed === null || lapsed.isSpawned === true) return false
  return lapsed.agentId === agent.agentId && lapsed.instance === agent.instance
}

function formatBackOff(state: TaskState, waitMs: number): string {
  const times = state.crashes === 1 ? 'once' : `${state.crashes} times`
  return `Task ${state.id} is ${state.status}: its lease was lost ${times}; it can be claimed in ${Math.ceil(waitMs / 1000)} s.`
}
