import type { Contract } from '../contract/contract.js'
import type { Command, Context } from '../task/command.js'
import type { Violation } from '../task/fact-parts.js'
import { type Decision, makeDecision } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import { findBrokenConstraint } from '../tool-calls/use-tool.js'
import { numberReviewerRefusal, refuseReviewer } from './review.js'

/** Read-only tools that a reviewer may call, whatever the phase offers its agent. */
export const REVIEW_TOOLS: readonly string[] = [
  ...['read_files', 'glob', 'grep', 'search_codebase', 'git_status', 'git_diff', 'git_log'],
]

/** A contract's own tool of the same name would run a command. */
export function mayReviewWith(contract: Contract, tool: string): boolean {
  return REVIEW_TOOLS.includes(tool) && !contract.extraTools.includes(tool) && !contract.tools.has(tool)
}

type UseTool = Command & { type: 'use_tool' }

/** Decides a reviewer's call. No mode allows more here: a review token is for reading. (REQ-REVIEW-3) */
export function useToolAsReviewer(
  contract: Contract,
  state: TaskState,
  command: UseTool & { readonly reviewer: string },
  context: Context,
): Decision {
  const { reviewer } = command
  const call = { toolName: command.tool, args: command.args, reviewer }
  const violation = findViolation(contract, state, command, context)
  if (violation !== null)
    return refuseReviewer(contract, state, {
      type: 'tool_denied',
      ...call,
      ...numberReviewerRefusal(contract, state, reviewer, violation),
      leaseSeconds: 0,
    })
  return makeDecision([
    { type: 'tool_allowed', ...call, success: true, execute: command.execute, violation: null, leaseSeconds: 0 },
  ])
}

function findViolation(contract: Contract, state: TaskState, command: UseTool, context: Context): Violation | null {
  const { tool, call } = command
  if (!mayReviewWith(contract, tool))
    return {
      code: 'forbidden_tool',
      detail: `Called ${tool} (reviewers only look). Allowed: ${REVIEW_TOOLS.join(', ')}`,
    }
  if (call.argProblems.length > 0) return { code: 'invalid_request', detail: `${tool}: ${call.argProblems.join('; ')}` }
  const outside = call.paths.find((one) => one.problem !== null)
  if (outside !== undefined)
    return { code: 'constraint_violation', detail: `${tool}: path ${JSON.stringify(outside.path)} ${outside.problem}` }
  return findBrokenConstraint(requirePhase(contract, state.phase), command, context)
}
