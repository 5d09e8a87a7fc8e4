import { phaseOf } from './access.js'
import type { Command, Context } from './command.js'
import type { Contract } from './contract.js'
import type { TaskFact } from './event.js'
import { type Decision, decided, unrecorded } from './refusal.js'
import type { TaskState } from './state.js'
import { completesOnEntry } from './transition-rules.js'

/** Gives the task to the agent, or back to the agent that already holds it (resume), with a new epoch either way. */
export function claim(
  contract: Contract,
  state: TaskState,
  command: Command & { type: 'claim' },
  context: Context,
): Decision {
  if (state.status === 'completed' || state.status === 'cancelled' || state.status === 'parked')
    return unrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  const holder = state.held
  const resumes = holder !== null && holder.agentId === command.agentId
  if (holder !== null && !resumes && holder.leaseExpiresAt > context.now)
    return unrecorded('already_claimed', `Task ${state.id} is held by agent ${holder.agentId}.`)
  if (state.reservedFor !== null && state.reservedFor !== command.agentId)
    return unrecorded('already_claimed', `Task ${state.id} is reserved for agent ${state.reservedFor}.`)
  if (command.openDependencies.length > 0)
    return unrecorded('conflict', `Task ${state.id} waits for ${command.openDependencies.join(', ')}.`)
  const lacking = state.requires.filter((capability) => !command.capabilities.includes(capability))
  if (lacking.length > 0)
    return unrecorded('not_permitted', `Task ${state.id} requires the capabilities ${lacking.join(', ')}.`)

  const facts: TaskFact[] = []
  if (holder !== null && !resumes) facts.push({ type: 'lease_lapsed', agentId: holder.agentId })
  facts.push({
    type: 'task_claimed',
    agentId: command.agentId,
    instance: command.instance,
    capabilities: command.capabilities,
    leaseSeconds: contract.enforcement.leaseSeconds,
    resumed: resumes || state.visit > 0,
  })
  if (state.visit === 0) {
    facts.push({ type: 'phase_entered', from: null, to: state.phase, visit: 1, artifacts: [], back: false })
    if (completesOnEntry(contract, phaseOf(contract, state.phase))) facts.push({ type: 'task_completed' })
  }
  return decided(facts)
}
