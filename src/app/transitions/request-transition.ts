import { type Needs, needs } from '../../core/gates/needs.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { type AgentCall, admitCall, applyAs, buildAgentHelp } from '../identity/agent-call.js'
import { buildPrompt, issuePhaseToken, makeGrant } from '../identity/grant.js'
import { type Completion, keepUnder, type Moved, type Once, type Refused } from '../kept-answer.js'
import type { CommandResult } from '../ledger/ledger.js'
import { ok, type Result, toProblem } from '../result.js'
import { findInterrupt } from '../tasks/interrupts.js'
import { toArtifactView, toBlockerView } from '../tasks/views.js'
import { toIsoTime } from '../wire.js'
import { answerSoon } from './answer-soon.js'
import { makeTransition, type Wanted } from './make-transition.js'
import { readVerdict, type Verdict } from './verdict.js'

interface TransitionRequest extends Wanted {
  readonly bearer: AgentBearer
  readonly taskId: string | undefined
  readonly once: Once | undefined
  /** The request came through `next`: its answer has `kind` and `text`, also when repeated. */
  readonly answersPrompt?: true
}

/** A request to leave the phase. Slow gates are answered with `checking`, and sending the request again joins them. */
export function requestTransition(app: App, request: TransitionRequest): Promise<Result<JsonObject>> {
  return answerSoon(app, { ...request, kind: 'transition' }, () => runTransition(app, request))
}

/** First gathers everything, then decides once. */
export async function runTransition(app: App, request: TransitionRequest): Promise<Result<JsonObject>> {
  const call = await admitCall(app, request.bearer, request.taskId)
  if (!call.ok) return call
  const { contract, state } = call.value
  const sequenceFits = request.currentPhase === null || request.currentPhase === state.phase
  const needed = sequenceFits ? needs(contract, state, request) : null
  const left = await leavePhase(app, call.value, { request, needed, answerOf })
  return left.ok ? ok(await moveAnswer(app, left.value)) : left
}

interface Leaving<A> {
  readonly request: Wanted & Pick<TransitionRequest, 'once' | 'answersPrompt'>
  /** null: refused without checking anything. */
  readonly needed: Needs | null
  /** What is stored of the answer. */
  readonly answerOf: (call: AgentCall, done: CommandResult) => A | Refused
}

/** Requests the transition for the agent and returns what is stored of the answer. */
export async function leavePhase<A extends Moved | { readonly completion: Completion }>(
  app: App,
  call: AgentCall,
  { request, needed, answerOf }: Leaving<A>,
): Promise<Result<A>> {
  const { once } = request
  const promptOfTask = request.answersPrompt === true ? { prompt_of: call.state.id } : {}
  const handled = await makeTransition(app, {
    ...{ contract: call.contract, state: call.state, wanted: request, needed },
    apply: (command, { blobs }) =>
      applyAs(app, call, command, {
        blobs,
        remember: (done) => keepUnder(once, 200, () => ({ ...answerOf(call, done), ...promptOfTask })),
      }),
  })
  if (!handled.ok) return handled
  const answer = answerOf(call, handled.value)
  return isRefused(answer) ? { ok: false, problem: answer.problem } : ok(answer)
}

function isRefused(answer: object): answer is Refused {
  return 'problem' in answer
}

/** What is stored of the answer: everything except tokens and the prompt, which are rebuilt. */
function answerOf(call: AgentCall, done: CommandResult): Moved | Refused {
  const { state } = done
  const verdict = readVerdict(done)
  if (verdict.kind === 'blocked') return { body: buildBlockedAnswer(call, state, verdict.event) }
  if (verdict.kind !== 'passed') return buildRefusedAnswer(call, done)
  const { warnings, violations } = verdict.event
  const body = {
    allowed: true,
    phase: state.phase,
    status: state.status,
    warnings: warnings.map(toBlockerView),
    artifacts: [...state.artifacts.values()].map((artifact) => ({
      ...toArtifactView(artifact),
      phase: artifact.phase,
    })),
    ...(violations.length === 0
      ? {}
      : { violation: { code: 'gate_blocked', detail: violations.map((violation) => violation.message).join('; ') } }),
  }
  if (state.status === 'completed')
    return { body: { ...body, phase_token: null, expires_at: null, allowed_tools: [], prompt: null, completed: true } }
  return { body, grant: makeGrant(state, call.bearer.agentId), entered: verdict.isEntered }
}

/** A request that was refused without checking anything. */
export function buildRefusedAnswer(call: AgentCall, { refusal, state }: CommandResult): Refused {
  if (refusal === null) throw new Error('a refusal without a reason')
  return { problem: toProblem(refusal, buildAgentHelp(call.contract, state)).problem }
}

function buildBlockedAnswer(
  call: AgentCall,
  state: TaskState,
  blocked: Extract<Verdict, { readonly kind: 'blocked' }>['event'],
): JsonObject {
  const waitsFor = blocked.blockers.find((blocker) => blocker.approvalId !== undefined)?.approvalId
  const pending = waitsFor === undefined ? undefined : state.approvals.get(waitsFor)
  return {
    allowed: false,
    phase: state.phase,
    phase_token: null,
    blockers: blocked.blockers.map(toBlockerView),
    warnings: blocked.warnings.map(toBlockerView),
    retry: { ...blocked.retry },
    ...(blocked.code === 'rule_interrupt' ? { interrupt: findInterrupt(state) } : {}),
    ...(pending?.status === 'pending'
      ? { pending_approval: { id: pending.id, digest: pending.digest, expires_at: toIsoTime(pending.expiresAt) } }
      : {}),
    ...describePendingVote(state, blocked.code),
    ...buildAgentHelp(call.contract, state),
  }
}

// Only the newest vote of a visit is open: it ended the earlier ones.
function describePendingVote(state: TaskState, code: string): JsonObject {
  const run = code === 'consensus_pending' ? state.consensus?.runs.at(-1) : undefined
  return run === undefined ? {} : { pending_consensus: { id: run.id } }
}

/** The answer to a transition; also sent again to a client that lost it. */
export async function moveAnswer(app: App, { body, grant }: Moved): Promise<JsonObject> {
  if (grant === undefined) return body
  const state = await app.ledger.read(grant.taskId)
  const contract = await app.contracts.get(grant.contract)
  const prompt = state === null || state.phase !== grant.phase ? null : await buildPrompt(app, contract, state)
  return { ...body, ...(await issuePhaseToken(app, grant)), prompt }
}
