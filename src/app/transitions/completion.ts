import type { Contract } from '../../core/contract/contract.js'
import { phaseName } from '../../core/gates/phase-visibility.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskEvent } from '../../core/task/event.js'
import type { TaskState } from '../../core/task/state.js'
import { type AgentCall, helpOf } from '../identity/agent-call.js'
import { grantOf } from '../identity/grant.js'
import type { Completion, Refused } from '../kept-answer.js'
import type { Handled } from '../ledger/ledger.js'
import { interruptOf } from '../tasks/interrupts.js'
import { blockerView } from '../tasks/views.js'
import { requiredFormat } from './phase-content.js'
import { refusedAnswer } from './request-transition.js'
import { verdictOf } from './verdict.js'

const REFUSED_TEXT = 'Complete checkpoint requirements to proceed'
const COMPLETE_TEXT = 'All phases complete'

/** What is kept of the answer to a completion: everything but tokens and contents, which are made again. */
export function completionOf(call: AgentCall, done: Handled): { readonly completion: Completion } | Refused {
  const { contract } = call
  const { state } = done
  const verdict = verdictOf(done)
  if (verdict.kind === 'refused') return refusedAnswer(call, done)
  if (verdict.kind === 'incomplete')
    return kept(call, state, {
      ...refusedBody(contract, state, verdict.event.problems),
      retry: { ...verdict.event.retry },
      ...helpOf(contract, state),
    })
  if (verdict.kind === 'blocked') return kept(call, state, blockedBody(call, state, verdict.event))
  const { event } = verdict
  const body = {
    checkpoint_passed: true,
    ...incompleteOf(event.violations),
    phase_completed: phaseName(contract, event.phase),
    status: state.status,
    warnings: event.warnings.map(blockerView),
  }
  if (state.status === 'completed')
    return kept(call, state, { ...body, workflow_complete: true, message: COMPLETE_TEXT, ...NO_TOKEN })
  return {
    completion: {
      body: { ...body, next_phase: phaseName(contract, state.phase) },
      phase: state.phase,
      visit: state.visit,
      task: state.id,
      grant: grantOf(state, call.bearer.agentId),
    },
  }
}

const NO_TOKEN = { phase_token: null, expires_at: null, allowed_tools: [] }

function kept(call: AgentCall, state: TaskState, body: JsonObject): { readonly completion: Completion } {
  return { completion: { body, phase: call.state.phase, visit: call.state.visit, task: state.id } }
}

function refusedBody(contract: Contract, state: TaskState, problems: readonly string[]): JsonObject {
  const phase = contract.phases.get(state.phase)
  return {
    checkpoint_passed: false,
    error: 'incomplete_checkpoint',
    missing_evidence: problems,
    current_phase: phaseName(contract, state.phase),
    required_format: phase === undefined ? {} : requiredFormat(phase),
    examples: phase?.document?.examples ?? {},
    message: REFUSED_TEXT,
  }
}

type Blocked = TaskEvent & { type: 'gate_blocked' }

// The evidence holds unless a blocker says otherwise: then it could not be judged to the end.
function blockedBody(call: AgentCall, state: TaskState, blocked: Blocked): JsonObject {
  const { contract } = call
  const missing = blocked.blockers.filter((one) => one.code === 'incomplete_checkpoint').map((one) => one.message)
  const isJudged = blocked.blockers.every((one) => one.code !== 'rule_interrupt' && one.code !== 'evidence_stale')
  const about =
    missing.length > 0
      ? refusedBody(contract, state, missing)
      : { checkpoint_passed: isJudged, current_phase: phaseName(contract, state.phase) }
  return {
    ...about,
    blockers: blocked.blockers.map(blockerView),
    warnings: blocked.warnings.map(blockerView),
    retry: { ...blocked.retry },
    ...(blocked.code === 'rule_interrupt' ? { error: 'rule_interrupt', interrupt: interruptOf(state) } : {}),
    ...helpOf(contract, state),
  }
}

// A mode that lets gates through does not make the evidence complete.
function incompleteOf(violations: Extract<TaskEvent, { type: 'gate_passed' }>['violations']): JsonObject {
  const missing = violations.filter((one) => one.code === 'incomplete_checkpoint').map((one) => one.message)
  return missing.length === 0 ? {} : { checkpoint_passed: false, missing_evidence: missing }
}
