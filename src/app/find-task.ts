import type { Contract } from '../core/contract/contract.js'
import type { Command } from '../core/task/command.js'
import type { TaskState } from '../core/task/state.js'
import type { ApplyOptions, CommandResult } from './ledger/ledger.js'
import { contextOf, type Resources } from './resources.js'
import { noTask, ok, type Result, toProblem } from './result.js'

export interface Task {
  readonly state: TaskState
  readonly contract: Contract
}

/** The task in the state that the next command would see, with its contract. */
export async function findTask(app: Resources, taskId: string): Promise<Result<Task>> {
  const state = await app.ledger.peek(taskId)
  return state === null ? noTask(taskId) : ok({ state, contract: await app.contracts.get(state.contract.hash) })
}

/** Decides a command on the task for a caller that needs no token. */
export async function applyTo(
  app: Resources,
  { state, contract }: Task,
  command: Command,
  { actor, ...options }: ApplyOptions & { readonly actor: string },
): Promise<Result<CommandResult>> {
  const handled = await app.ledger.apply({ taskId: state.id, contract }, command, contextOf(app, actor), options)
  if (handled === null) return noTask(state.id)
  return handled.refusal === null ? ok(handled) : toProblem(handled.refusal, {}, handled.events.length > 0)
}
