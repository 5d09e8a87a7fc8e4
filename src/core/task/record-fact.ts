import type { Contract } from '../contract/contract.js'
import { decideAfterCall } from '../watch/watch.js'
import type { Command, Context } from './command.js'
import type { TaskFact } from './event.js'
import { evolve } from './evolve.js'
import { type Decision, makeDecision } from './refusal.js'
import type { TaskState } from './state.js'

type Record = Command & { type: 'record_usage' | 'record_fact' }

/** Something that happened outside of Phaselock's own tools; the same thing told twice is recorded once. */
export function record(contract: Contract, state: TaskState, command: Record, context: Context): Decision {
  const agentId = state.held?.agentId ?? ''
  if (command.type === 'record_fact' && command.factId !== null && state.watch.seen.has(command.factId))
    return makeDecision([])
  const fact: TaskFact =
    command.type === 'record_usage'
      ? { ...command, type: 'usage_recorded', agentId }
      : {
          type: 'fact_recorded',
          agentId,
          source: command.source,
          toolName: command.tool,
          command: command.command,
          paths: command.paths,
          success: command.success,
          durationMs: command.durationMs,
          factId: command.factId,
        }
  // What comes to light when nobody works on the task is counted, and holds nobody back.
  if (state.status === 'completed' || state.held === null) return makeDecision([fact])
  // The rules are held against what is true with it.
  const after = evolve(state, {
    ...fact,
    at: context.now,
    actor: context.actor,
    epoch: state.epoch,
    phase: state.phase,
    contract: contract.hash,
  })
  return makeDecision([fact, ...decideAfterCall(contract, after, context)])
}
