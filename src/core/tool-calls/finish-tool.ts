import type { Contract } from '../contract/contract.js'
import { findRefusedPaths, type RefusedPath } from '../paths/writable.js'
import type { Command, Context } from '../task/command.js'
import type { Violation } from '../task/fact-parts.js'
import { type Decision, getMode, makeDecision, numberRefusal, refuseWithinBudget } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { findBytesProblem } from '../task/task-bytes.js'
import { markAfter } from '../watch/evolve-watch.js'
import { decideAfterCall } from '../watch/watch.js'

const CHANGES_TOLD_MAX = 200
const PATHS_NAMED_MAX = 20

/** Records a tool's result. If one changed path is not allowed, all changes are discarded. */
export function finishTool(
  contract: Contract,
  state: TaskState,
  command: Command & { type: 'finish_tool' },
  context: Context,
): Decision {
  if (command.reviewer !== undefined) return finishReview(command, command.reviewer)
  const about = {
    toolName: command.tool,
    agentId: state.held?.agentId ?? '',
    durationMs: command.durationMs,
    exitCode: command.exitCode,
    leaseSeconds: contract.enforcement.leaseSeconds,
  }
  const refused = findRefusedPaths(contract, state, command.changed, { context, git: command.git })
  const isLenient = getMode(contract, state) !== 'strict'
  const isDropped = refused.length > 0 && !(isLenient && refused.every((one) => !one.isFinal))
  const violation = refused.length === 0 ? null : makeViolation(command.tool, state.phase, { refused, isDropped })
  const tooMuch = isDropped ? null : findBytesViolation(state, command, context)
  const reason = isDropped ? violation : tooMuch
  if (reason !== null) {
    const paths = (isDropped ? refused : command.changed).map((one) => one.path)
    const dropped = refuseWithinBudget(contract, state, {
      type: 'changes_dropped',
      ...about,
      ...numberRefusal(contract, state, reason),
      paths: paths.slice(0, CHANGES_TOLD_MAX),
      pathCount: paths.length,
    })
    return dropped.kind === 'decided' && dropped.facts.length === 1
      ? { ...dropped, facts: [...dropped.facts, ...decideAfterCall(contract, state, context)] }
      : dropped
  }
  const mark = markAfter(state.watch, { changeCount: command.changed.length, failing: command.failing })
  return makeDecision([
    {
      type: 'tool_finished',
      ...about,
      success: command.success,
      code: command.code,
      detail: command.detail,
      changes: command.changed.slice(0, CHANGES_TOLD_MAX).map(({ path, kind, sha256 }) => ({ path, kind, sha256 })),
      changeCount: command.changed.length,
      ...(command.addedBytes === undefined ? {} : { addedBytes: command.addedBytes }),
      violation,
      unenforced: command.unenforced,
      ...(command.failing === undefined ? {} : { failing: command.failing }),
      ...(command.hooks === undefined ? {} : { hooks: command.hooks }),
      ...(command.commit === undefined ? {} : { commit: command.commit }),
    },
    ...decideAfterCall(contract, state, context, mark),
  ])
}

function findBytesViolation(
  state: TaskState,
  command: Command & { type: 'finish_tool' },
  context: Context,
): Violation | null {
  if (command.isWritten === true) return null
  const problem = findBytesProblem(state, command.addedBytes ?? 0, context.taskBytesMax)
  return problem === null
    ? null
    : { code: 'constraint_violation', detail: `${command.tool} ${problem}. All its changes were discarded.` }
}

// Changes of a reviewer's tool were discarded.
function finishReview(command: Command & { type: 'finish_tool' }, reviewer: string): Decision {
  const { tool: toolName, success, code, detail, durationMs, exitCode, unenforced } = command
  return makeDecision([
    {
      type: 'tool_finished',
      toolName,
      reviewer,
      ...{ success, code, detail, durationMs, exitCode, unenforced },
      changes: [],
      changeCount: 0,
    },
  ])
}

function makeViolation(
  tool: string,
  phase: string,
  one: { readonly refused: readonly RefusedPath[]; readonly isDropped: boolean },
): Violation {
  const { refused, isDropped } = one
  const named = refused.slice(0, PATHS_NAMED_MAX).map(({ path, reason }) => `${JSON.stringify(path)} ${reason}`)
  const more = refused.length > named.length ? ` and ${refused.length - named.length} more` : ''
  return {
    code: 'constraint_violation',
    detail: `${tool} changed files that ${phase} does not allow${isDropped ? '; all its changes were discarded' : ''}: ${named.join('; ')}${more}`,
  }
}
