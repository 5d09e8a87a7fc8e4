import type { Contract } from '../../core/contract/contract.js'
import { decideWayOn } from '../../core/gates/complete-phase.js'
import { computeCheckpointNeeds, needs } from '../../core/gates/needs.js'
import { formatPhaseName, mayRead } from '../../core/gates/phase-visibility.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { App } from '../app.js'
import { type AgentCall, admitCall, buildAgentHelp } from '../identity/agent-call.js'
import type { Once } from '../kept-answer.js'
import { ok, type Problem, type Result, refuse } from '../result.js'
import { answerSoon } from './answer-soon.js'
import { buildCompletionRecord } from './completion.js'
import { buildCompletionAnswer } from './phase-answer.js'
import { buildCriteria, buildPhaseContent, collectOutputs, toProgressView, toTasksView } from './phase-content.js'
import { leavePhase } from './request-transition.js'

const EVIDENCE_BYTES_MAX = 10 * 1024 * 1024

interface PhaseRequest {
  readonly bearer: AgentBearer
  readonly taskId?: string | undefined
  /** Absent: the current one. */
  readonly phase?: string | undefined
}

/** The content of a phase: the current one or, for review, a completed one. Other phases are not shown. */
export async function getPhase(app: App, request: PhaseRequest): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, request.bearer, request.taskId)
  if (!admitted.ok) return admitted
  const { contract, state } = admitted.value
  const id = request.phase ?? state.phase
  const phase = contract.phases.get(id)
  if (phase === undefined) return refuseUnknownPhase(contract, id)
  if (!mayRead(state, id))
    return { ok: false, problem: await refuseOutOfSequence(app, admitted.value, { id, to: 'access' }) }
  const isCurrent = id === state.phase
  return ok({
    phase_number: formatPhaseName(contract, id),
    phase_content: await buildPhaseContent(app, contract, state, id),
    ...toTasksView(phase, state),
    artifacts_from_previous: isCurrent ? await collectOutputs(app, contract, state) : {},
    checkpoint_criteria: buildCriteria(phase),
  })
}

interface CompleteRequest {
  readonly bearer: AgentBearer
  readonly taskId?: string | undefined
  readonly phase: string
  readonly evidence: Json
  readonly once: Once | undefined
}

/** Hands in the evidence of the current phase and, if it holds, makes the only legal transition. */
export async function completePhase(app: App, request: CompleteRequest): Promise<Result<JsonObject>> {
  const wrong = refuseWrongEvidence(request.evidence)
  if (wrong !== null) return wrong
  const { bearer, evidence, phase } = request
  const asked = { kind: 'completion', bearer, evidence, target: phase, artifacts: new Map(), claims: [] } as const
  return answerSoon(app, asked, () => completeNow(app, request))
}

async function completeNow(app: App, request: CompleteRequest): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, request.bearer, request.taskId)
  if (!admitted.ok) return (await repeatCompletion(app, request, admitted.problem)) ?? admitted
  const call = admitted.value
  const { contract, state } = call
  if (!contract.phases.has(request.phase)) return refuseUnknownPhase(contract, request.phase)
  const way = decideWayOn(contract, state)
  const target = way.kind === 'one' ? way.target : state.phase
  const claims = way.kind === 'one' ? way.claims : []
  const left = await leavePhase(app, call, {
    request: {
      currentPhase: request.phase,
      target,
      artifacts: new Map(),
      evidence: request.evidence as JsonObject,
      claims,
      once: request.once,
      completes: true,
    },
    needed:
      request.phase !== state.phase
        ? null
        : way.kind === 'one'
          ? needs(contract, state, { target, claims })
          : computeCheckpointNeeds(contract, state),
    answerOf: buildCompletionRecord,
  })
  if (left.ok) return ok(await buildCompletionAnswer(app, left.value.completion))
  if (left.problem.code !== 'phase_sequence_violation') return left
  const now = (await app.ledger.read(state.id)) ?? state
  const sequence = await refuseOutOfSequence(app, { ...call, state: now }, { id: request.phase, to: 'complete' })
  return { ok: false, problem: { ...left.problem, extra: { ...left.problem.extra, ...sequence.extra } } }
}

function refuseWrongEvidence(evidence: Json): Result<JsonObject> | null {
  if (evidence === null || typeof evidence !== 'object' || Array.isArray(evidence))
    return refuse('invalid_request', 'evidence: must be an object of fields.')
  return Buffer.byteLength(JSON.stringify(evidence)) > EVIDENCE_BYTES_MAX
    ? refuse('payload_too_large', `evidence: larger than ${EVIDENCE_BYTES_MAX} bytes.`)
    : null
}

function refuseUnknownPhase(contract: Contract, id: string): Result<JsonObject> {
  const known = [...contract.phases.keys()]
  return refuse('unknown_phase', `There is no phase ${JSON.stringify(id.slice(0, 100))}. Known: ${known.join(', ')}`)
}

// When two clients complete the same phase at once, the slower one finds its token superseded: it is told that the
// phase is completed, and nothing about the next one.
async function repeatCompletion(
  app: App,
  request: CompleteRequest,
  problem: Problem,
): Promise<Result<JsonObject> | null> {
  const { bearer } = request
  if (problem.code !== 'token_stale' || bearer.kind !== 'phase' || bearer.phase !== request.phase) return null
  const state = await app.ledger.read(bearer.taskId)
  if (state === null || state.held?.agentId !== bearer.agentId || state.contract.hash !== bearer.contract) return null
  if (state.phase === request.phase || !state.completedPhases.includes(request.phase)) return null
  const contract = await app.contracts.get(state.contract.hash)
  const words = describeSequenceViolation(contract, state, { id: request.phase, to: 'complete' })
  const refused = refuse('phase_sequence_violation', `${words.message}: ${words.reason}.`, { ...words })
  return { ok: false, problem: { ...refused.problem, recorded: problem.recorded } }
}

interface WantedPhase {
  readonly id: string
  readonly to: 'access' | 'complete'
}

function describeSequenceViolation(contract: Contract, state: TaskState, wanted: WantedPhase) {
  const current = formatPhaseName(contract, state.phase)
  const isDone = wanted.to === 'complete' && state.completedPhases.includes(wanted.id)
  return {
    error: 'phase_sequence_violation',
    violation_type: isDone ? 'already_completed' : 'attempted_skip',
    message: `Cannot ${wanted.to} Phase ${formatPhaseName(contract, wanted.id)}`,
    reason: `Currently on Phase ${current}`,
    required_action: `Complete Phase ${current} checkpoint first`,
  }
}

async function refuseOutOfSequence(app: App, call: AgentCall, wanted: WantedPhase): Promise<Problem> {
  const { contract, state } = call
  const words = describeSequenceViolation(contract, state, wanted)
  return refuse('phase_sequence_violation', `${words.message}: ${words.reason}.`, {
    ...buildAgentHelp(contract, state),
    ...words,
    current_phase_content: await buildPhaseContent(app, contract, state, state.phase),
    ...toTasksView(requirePhase(contract, state.phase), state),
    artifacts_available: await collectOutputs(app, contract, state),
    progress: toProgressView(contract, state),
  }).problem
}
