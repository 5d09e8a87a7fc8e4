import { decideApproval, expireApproval } from '../approvals/approval.js'
import { answerQuestion, askQuestion, withdrawQuestions } from '../approvals/question.js'
import { askToolApproval } from '../approvals/tool-approval.js'
import type { Contract } from '../contract/contract.js'
import { finishInstall } from '../dependencies/finish-install.js'
import { recordHeldOut } from '../evidence/held-out.js'
import { pinSetup } from '../evidence/setup-change.js'
import { leavePhase } from '../gates/complete-phase.js'
import { finishTask } from '../gates/phase-tasks.js'
import { addReviewer, revokeReviewer, submitReview } from '../reviews/review.js'
import { useToolAsReviewer } from '../reviews/review-tool.js'
import { finishTool } from '../tool-calls/finish-tool.js'
import { useTool } from '../tool-calls/use-tool.js'
import { assertUnreachable } from '../unreachable.js'
import { acknowledge, watch } from '../watch/watch.js'
import { checkAlerts } from './alerts.js'
import { claim } from './claim.js'
import type { Command, Context } from './command.js'
import { dropAgent } from './crash.js'
import type { TaskEvent, TaskFact } from './event.js'
import { evolve } from './evolve.js'
import type { NewTask } from './fact-parts.js'
import {
  acceptTools,
  cancel,
  endLapsedLease,
  extendLease,
  park,
  reassign,
  release,
  resume,
  rewind,
  settleTree,
  update,
} from './lifecycle.js'
import { reportUnledgered } from './reconcile.js'
import { record } from './record-fact.js'
import { type Decision, makeDecision, refuseUnrecorded } from './refusal.js'
import type { TaskState } from './state.js'
import { endWorktree } from './worktree.js'

/** Decides a command from only the contract, the state, the command and the time. Refusals are events too. */
export function decide(contract: Contract, state: TaskState, command: Command, context: Context): Decision {
  return withdrawQuestions(state, decideCommand(contract, state, command, context))
}

function decideCommand(contract: Contract, state: TaskState, command: Command, context: Context): Decision {
  switch (command.type) {
    case 'claim':
      return claim(contract, state, command, context)
    case 'use_tool':
      return command.reviewer === undefined
        ? useTool(contract, state, command, context)
        : useToolAsReviewer(contract, state, { ...command, reviewer: command.reviewer }, context)
    case 'finish_tool':
      return finishTool(contract, state, command, context)
    case 'transition':
      return leavePhase(contract, state, command, context)
    case 'finish_task':
      return finishTask(contract, state, command)
    case 'watch':
      return watch(contract, state, command, context)
    case 'acknowledge':
      return acknowledge(contract, state)
    case 'record_usage':
    case 'record_fact':
      return record(contract, state, command, context)
    case 'decide_approval':
      return decideApproval(contract, state, command, context)
    case 'ask_tool_approval':
      return askToolApproval(state, command, context)
    case 'finish_install':
      return finishInstall(state, command, context)
    case 'pin_setup':
      return pinSetup(state, command, context)
    case 'ask_question':
      return askQuestion(contract, state, command)
    case 'answer_question':
      return answerQuestion(contract, state, command)
    case 'refuse_token':
      return makeDecision([{ ...command, type: 'token_refused', success: false }], {
        code: command.code,
        detail: command.detail,
      })
    case 'add_reviewer':
      return addReviewer(contract, state, command, context)
    case 'revoke_reviewer':
      return revokeReviewer(state, command)
    case 'submit_review':
      return submitReview(contract, state, command)
    case 'report_unledgered':
      return reportUnledgered(contract, state, command, context)
    case 'record_baseline':
      return recordBaseline(state, command)
    case 'record_held_out':
      return recordHeldOut(state, command.run)
    case 'extend_lease':
      return extendLease(contract, state, 'lease_extended')
    case 'renew_token':
      return extendLease(contract, state, 'token_renewed')
    case 'release':
      return release(state, command)
    case 'drop_agent':
      return dropAgent(contract, state, command, context.now)
    case 'lapse_lease':
      return endLapsedLease(contract, state, context)
    case 'expire_approval':
      return expireApproval(contract, state, context)
    case 'check_alerts':
      return checkAlerts(contract, state, context)
    case 'park':
      return park(state, command)
    case 'cancel':
      return cancel(state, command)
    case 'resume':
      return resume(contract, state, command)
    case 'rewind':
      return rewind(contract, state, command)
    case 'reassign':
      return reassign(state, command)
    case 'tree_accepted':
    case 'tree_reverted':
      return settleTree(state, command)
    case 'end_worktree':
      return endWorktree(state, command)
    case 'accept_tools':
      return acceptTools(state, command)
    case 'update':
      return update(state, command)
    default:
      return assertUnreachable(command)
  }
}

// The first one counts: work began with only one tree.
function recordBaseline(state: TaskState, command: Command & { type: 'record_baseline' }): Decision {
  if (state.baseline !== null) return makeDecision([])
  const { run, counts, flaky, reason } = command
  return makeDecision([{ type: 'baseline_recorded', run, ...counts, flaky, reason }])
}

/** Creates a task under this contract, unless the contract needs something that this version cannot enforce. */
export function createTask(contract: Contract, task: NewTask): Decision {
  if (contract.notEnforced.length > 0) {
    const features = [...new Set(contract.notEnforced.map((enforced) => `${enforced.feature} (${enforced.path})`))]
    return refuseUnrecorded(
      'contract.not_enforced_yet',
      `Contract ${contract.name} asks for what this version cannot enforce: ${features.join(', ')}`,
    )
  }
  return makeDecision([
    {
      type: 'task_created',
      ...task,
      contractHash: contract.hash,
      contractName: contract.name,
      contractVersion: contract.version,
      start: contract.start,
    },
  ])
}

interface StampedEvents {
  readonly events: readonly TaskEvent[]
  readonly state: TaskState
}

/**
 * Adds the envelope (time, actor, epoch, phase) to events and folds them: returns what to append, and the state after
 * it.
 */
export function stamp(
  contract: Contract,
  state: TaskState | null,
  facts: readonly TaskFact[],
  context: Context,
): StampedEvents {
  const events: TaskEvent[] = []
  let next = state
  for (const fact of facts) {
    const event = {
      ...fact,
      at: context.now,
      actor: context.actor,
      epoch: (next?.epoch ?? 0) + (advancesEpoch(fact) ? 1 : 0),
      phase: fact.type === 'phase_entered' ? fact.to : (next?.phase ?? contract.start),
      contract: contract.hash,
    } as TaskEvent
    events.push(event)
    next = evolve(next, event)
  }
  if (next === null) throw new Error('nothing was decided for a task that does not exist')
  return { events, state: next }
}

// Every claim, transition, rewind and reassignment supersedes all older tokens of the task. (REQ-TOKEN-3)
function advancesEpoch(fact: TaskFact): boolean {
  if (fact.type === 'phase_entered') return fact.from !== null
  return fact.type === 'task_claimed' || fact.type === 'task_rewound' || fact.type === 'task_reassigned'
}
