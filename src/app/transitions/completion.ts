import type { Contract } from '../../core/contract/contract.js'
import { formatPhaseName } from '../../core/gates/phase-visibility.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskEvent } from '../../core/task/event.js'
import type { TaskState } from '../../core/task/state.js'
import { type AgentCall, buildAgentHelp } from '../identity/agent-call.js'
import { makeGrant } from '../identity/grant.js'
import type { Completion, Refused } from '../kept-answer.js'
import type { CommandResult } from '../ledger/ledger.js'
import { findInterrupt } from '../tasks/interrupts.js'
import { toBlockerView } from '../tasks/views.js'
import { buildRequiredFormat } from './phase-content.js'
import { buildRefusedAnswer } from './request-transition.js'
import { readVerdict } from './verdict.js'

const REFUSED_TEXT = 'Complete checkpoint requirements to proceed'
const COMPLETE_TEXT = 'All phases complete'

/** What is stored of the answer to a completion: everything except tokens and contents, which are rebuilt. */
export function buildCompletionRecord(
  call: AgentCall,
  done: CommandResult,
): { readonly completion: Completion } | Refused {
  const { contract } = call
  const { state } = done
  const verdict = readVerdict(done)
  if (verdict.kind === 'refused') return buildRefusedAnswer(call, done)
  if (verdict.kind === 'incomplete')
    return wrapCompletion(call, state, {
      ...buildRefusedBody(contract, state, verdict.event.problems),
      retry: { ...verdict.event.retry },
      ...buildAgentHelp(contract, state),
    })
  if (verdict.kind === 'blocked') return wrapCompletion(call, state, buildBlockedBody(call, state, verdict.event))
  const { event } = verdict
  const body = {
    checkpoint_passed: true,
    ...describeMissingEvidence(event.violations),
    phase_completed: formatPhaseName(contract, event.phase),
    status: state.status,
    warnings: event.warnings.map(toBlockerView),
  }
  if (state.status === 'completed')
    return wrapCompletion(call, state, { ...body, workflow_complete: true, message: COMPLETE_TEXT, ...NO_TOKEN })
  return {
    completion: {
      body: { ...body, next_phase: formatPhaseName(contract, state.phase) },
      phase: state.phase,
      visit: state.visit,
      task: state.id,
      grant: makeGrant(state, call.bearer.agentId),
    },
  }
}

const NO_TOKEN = { phase_token: null, expires_at: null, allowed_tools: [] }

function wrapCompletion(call: AgentCall, state: TaskState, body: JsonObject): { readonly completion: Completion } {
  return { completion: { body, phase: call.state.phase, visit: call.state.visit, task: state.id } }
}

function buildRefusedBody(contract: Contract, state: TaskState, problems: readonly string[]): JsonObject {
  const phase = contract.phases.get(state.phase)
  return {
    checkpoint_passed: false,
    error: 'incomplete_checkpoint',
    missing_evidence: problems,
    current_phase: formatPhaseName(contract, state.phase),
    required_format: phase === undefined ? {} : buildRequiredFormat(phase),
    examples: phase?.document?.examples ?? {},
    message: REFUSED_TEXT,
  }
}

type GateBlockedEvent = TaskEvent & { type: 'gate_blocked' }

// The evidence holds unless a blocker says that it could not be judged completely.
function buildBlockedBody(call: AgentCall, state: TaskState, blocked: GateBlockedEvent): JsonObject {
  const { contract } = call
  const missing = blocked.blockers
    .filter((blocker) => blocker.code === 'incomplete_checkpoint')
    .map((blocker) => blocker.message)
  const isJudged = blocked.blockers.every(
    (blocker) => blocker.code !== 'rule_interrupt' && blocker.code !== 'evidence_stale',
  )
  const about =
    missing.length > 0
      ? buildRefusedBody(contract, state, missing)
      : { checkpoint_passed: isJudged, current_phase: formatPhaseName(contract, state.phase) }
  return {
    ...about,
    blockers: blocked.blockers.map(toBlockerView),
    warnings: blocked.warnings.map(toBlockerView),
    retry: { ...blocked.retry },
    ...(blocked.code === 'rule_interrupt' ? { error: 'rule_interrupt', interrupt: findInterrupt(state) } : {}),
    ...buildAgentHelp(contract, state),
  }
}

// A mode that opens gates does not make the evidence complete.
function describeMissingEvidence(violations: Extract<TaskEvent, { type: 'gate_passed' }>['violations']): JsonObject {
  const missing = violations
    .filter((violation) => violation.code === 'incomplete_checkpoint')
    .map((violation) => violation.message)
  return missing.length === 0 ? {} : { checkpoint_passed: false, missing_evidence: missing }
}
