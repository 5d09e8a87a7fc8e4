import type { TaskEvent } from './task-types.js'

/** What a person filters the timeline by. */
export type EventKind = 'refusal' | 'gate' | 'approval' | 'question' | 'interrupt' | 'artifact' | 'call' | 'task'

/** The kinds in the order of the filter, with their names. */
export const KINDS: readonly { readonly kind: EventKind; readonly name: string }[] = [
  { kind: 'refusal', name: 'Refusals' },
  { kind: 'gate', name: 'Gates' },
  { kind: 'approval', name: 'Approvals' },
  { kind: 'question', name: 'Questions' },
  { kind: 'interrupt', name: 'Interrupts' },
  { kind: 'artifact', name: 'Evidence' },
  { kind: 'call', name: 'Calls' },
  { kind: 'task', name: 'Task' },
]

const KIND_OF: Readonly<Record<string, EventKind>> = {
  agent_dropped: 'interrupt',
  alert_cleared: 'interrupt',
  alert_raised: 'interrupt',
  approval_decided: 'approval',
  approval_expired: 'approval',
  approval_refused: 'refusal',
  approval_requested: 'approval',
  approval_voided: 'approval',
  baseline_recorded: 'artifact',
  changes_dropped: 'refusal',
  checkpoint_passed: 'artifact',
  checkpoint_refused: 'refusal',
  consensus_requested: 'approval',
  fact_recorded: 'call',
  gate_blocked: 'gate',
  gate_passed: 'gate',
  held_out_failed: 'gate',
  install_finished: 'task',
  lease_extended: 'call',
  lease_lapsed: 'interrupt',
  phase_entered: 'task',
  phase_task_finished: 'artifact',
  question_answered: 'question',
  question_asked: 'question',
  question_refused: 'refusal',
  question_withdrawn: 'question',
  review_refused: 'refusal',
  review_submitted: 'artifact',
  rule_acknowledged: 'interrupt',
  rule_cleared: 'interrupt',
  rule_violated: 'interrupt',
  task_claimed: 'task',
  tests_pinned: 'artifact',
  token_refused: 'refusal',
  token_renewed: 'call',
  tool_allowed: 'call',
  tool_denied: 'refusal',
  tool_finished: 'call',
  transition_refused: 'refusal',
  transition_requested: 'artifact',
  unledgered_change_found: 'interrupt',
  usage_recorded: 'call',
}

/** The kind of an event by its type; whatever is not known belongs to the task. */
export function findKind(type: string): EventKind {
  return KIND_OF[type] ?? 'task'
}

/** The kinds of an event: a gate that stayed closed is a refusal as well, as far as it counts against the agent. */
export function listKinds({ type, data }: Pick<TaskEvent, 'type' | 'data'>): readonly EventKind[] {
  const kind = findKind(type)
  return type === 'gate_blocked' && data.counted === true ? [kind, 'refusal'] : [kind]
}

const CALLS = new Set(['tool_allowed', 'fact_recorded'])

/** Whether an event stands for one call; what else belongs to calls is bookkeeping. */
export function isCall(type: string): boolean {
  return CALLS.has(type)
}
