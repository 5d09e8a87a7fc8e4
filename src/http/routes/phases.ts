import { completePhase, getPhase } from '../../app/transitions/phases.js'
import { COMPLETION, PHASE } from '../answers/phase-answers.js'
import { FIELD, makeAgentShape } from '../fields.js'
import { type Route, requireBearer } from '../route.js'

/** The content of a phase, and its completion. */
export const PHASE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/phases/:phase',
    id: 'getPhase',
    summary: 'The content of the current phase, or of one that was completed; of no other',
    answer:
      '`{phase_number, phase_content: {content, sources, total_tokens}, tasks?, artifacts_from_previous, checkpoint_criteria}`; any other phase answers 409 `phase_sequence_violation`',
    response: PHASE,
    handle: async (call) => getPhase(call.app, { bearer: requireBearer(call), phase: call.params.phase ?? '' }),
  },
  {
    method: 'POST',
    path: '/phases/:phase/complete',
    id: 'completePhase',
    summary: 'Hand in the evidence of the phase; when it holds, the only legal transition is made',
    body: makeAgentShape({ task_id: FIELD.id, evidence: FIELD.evidence }, ['evidence']),
    answer:
      '`{checkpoint_passed, phase_completed, status, warnings, next_phase, next_phase_content, tasks?, artifacts_available, missing_evidence?, phase_token, expires_at, allowed_tools}`, after the last phase `{checkpoint_passed, phase_completed, status, warnings, workflow_complete: true, message, missing_evidence?, phase_token: null, expires_at: null, allowed_tools: []}`, with gates in the way `{checkpoint_passed, blockers, warnings, current_phase, current_phase_content, tasks?, retry, task_id, phase, allowed_tools, next_step, pending_approval?, interrupt?, error?}`, and refused `{checkpoint_passed: false, missing_evidence, current_phase, current_phase_content, error, required_format, examples, message, tasks?, retry, task_id, phase, allowed_tools, next_step}`',
    response: COMPLETION,
    handle: async (call) =>
      completePhase(call.app, {
        bearer: requireBearer(call),
        taskId: call.body.task_id as string | undefined,
        phase: call.params.phase ?? '',
        evidence: call.body.evidence ?? null,
        once: call.once,
      }),
  },
]
