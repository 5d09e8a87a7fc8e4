import type { Contract } from '../contract/contract.js'
import { decideAfterCall } from '../watch/watch.js'
import type { Command, Context } from './command.js'
import type { TaskFact } from './event.js'
import { evolve } from './evolve.js'
import { type Decision, makeDecision } from './refusal.js'
import type { TaskState } from './state.js'

type Record = Command & { type: 'record_usage' | 'record_fact' }

/** A fact from outside Phaselock's own tools; reported twice, it is recorded once. */
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
          ...(command.changes === undefined ? {} : { changes: command.changes, changeCount: command.changeCount ?? 0 }),
        }
  // Facts that arrive while nobody works on the task are counted but block nobody.
  if (state.status === 'completed' || state.held === null) return makeDecision([fact])
  // The rules are checked with this fact included.
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
