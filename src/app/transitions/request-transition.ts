import { matchesPattern } from '../../contract/patterns.js'
import { type Needs, needs } from '../../core/gates/needs.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { findHoldingViolation } from '../../core/watch/watch.js'
import type { App, Once } from '../app.js'
import { openVote } from '../councils/consensus.js'
import { type AgentCall, admitCall, applyAs, buildAgentHelp } from '../identity/agent-call.js'
import { buildPrompt, type Grant, issuePhaseToken, makeGrant } from '../identity/grant.js'
import type { CommandResult } from '../ledger/ledger.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { findInterrupt } from '../tasks/interrupts.js'
import { type Entering, refusePathConflict, runWithPathLease } from '../tasks/path-leases.js'
import { toArtifactView, toBlockerView } from '../tasks/views.js'
import { toIsoTime } from '../wire.js'
import { runWhileChecking } from './checking.js'
import { gatherEvidence } from './checkpoint.js'
import { gather } from './gather.js'
import { answerSoon } from './long-gates.js'
import { readCommitTime } from './newest-commit.js'

/** How long a transition waits for tools that still run before it ends them. */
const TOOLS_WAIT_MS = 10_000

export interface MoveRequest {
  readonly bearer: AgentBearer
  readonly taskId: string | undefined
  readonly currentPhase: string | null
  readonly target: string
  readonly artifacts: ReadonlyMap<string, Json>
  /** null: what was accepted in this visit of the phase, if anything was. */
  readonly evidence: JsonObject | null
  readonly claims: readonly string[]
  readonly once: Once | undefined
  /** The phase is to be completed, and its evidence judged before anything else. */
  readonly completes?: true
  /** The request came through `next`: its answer carries `kind` and `text`, also when it is given again. */
  readonly answersPrompt?: true
}

/** A request to leave the phase. One whose gates take long is told so, and joined when it is sent again. */
export function requestTransition(app: App, request: MoveRequest): Promise<Result<JsonObject>> {
  return answerSoon(app, { ...request, kind: 'transition' }, () => runTransition(app, request))
}

/** Everything that is needed is gathered first, then it is decided once. */
export async function runTransition(app: App, request: MoveRequest): Promise<Result<JsonObject>> {
  const call = await admitCall(app, request.bearer, request.taskId)
  if (!call.ok) return call
  const { contract, state } = call.value
  const sequenceFits = request.currentPhase === null || request.currentPhase === state.phase
  const needed = sequenceFits ? needs(contract, state, request) : null
  const moved = await move(app, call.value, { request, needed, answerOf })
  if (!moved.ok) return moved
  return ok(await moveAnswer(app, moved.value))
}

export interface Move {
  readonly request: MoveRequest
  /** null: it is refused without looking at anything. */
  readonly needed: Needs | null
  /** What is kept of the answer; a member `problem` makes it a refusal. */
  readonly answerOf: (call: AgentCall, done: CommandResult) => JsonObject
}

/** Gathers what the request needs, decides it and gives what is kept of the answer. */
export async function move(app: App, call: AgentCall, one: Move): Promise<Result<JsonObject>> {
  const { request, needed } = one
  const { contract, state } = call
  if (needed === null) return settle(app, call, { ...one, gathered: null, committedAt: null })
  // Checks read the work tree: while they run, another request for the same task waits its turn by asking again.
  if (app.checking.has(state.id))
    return refuse('conflict', `The gates of task ${state.id} are being checked.`, {
      next_step: 'Wait for the answer of the running transition request.',
    })
  return runWhileChecking(app, call, async () => {
    await app.running.settle(state.id, TOOLS_WAIT_MS)
    // Nothing is run for a transition that another task is in the way of.
    const taken = await refusePathConflict(app, toEntering(call, request.target))
    if (taken !== null) return taken
    const committedAt = await readCommitTime(app, call)
    const held = findHoldingViolation(contract, state, { now: app.now(), matches: matchesPattern, committedAt })
    if (held !== null) return settle(app, call, { ...one, gathered: null, committedAt })
    const evidence = await gatherEvidence(app, state, { needed, sent: request.evidence })
    const offer = { artifacts: redactArtifacts(app, request.artifacts), evidence }
    const gathered = await gather(app, contract, state, { needed, offer })
    return settle(app, call, { ...one, gathered, committedAt })
  })
}

// Where it stays in its phase the task has what it needs.
function toEntering({ state, contract, bearer }: AgentCall, phase: string): Entering {
  return { state, contract, phase: phase === state.phase ? '' : phase, agentId: bearer.agentId }
}

function redactArtifacts(app: App, artifacts: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  return new Map([...artifacts].map(([type, content]) => [type, app.redact(content)]))
}

async function settle(
  app: App,
  call: AgentCall,
  one: Move & {
    readonly gathered: Awaited<ReturnType<typeof gather>> | null
    readonly committedAt: number | null
  },
): Promise<Result<JsonObject>> {
  const { request, gathered, committedAt, answerOf } = one
  const command = {
    type: 'transition',
    target: request.target,
    currentPhase: request.currentPhase,
    claims: request.claims,
    facts: gathered?.facts ?? null,
    committedAt,
    ...(request.completes === true ? { completes: true as const } : {}),
  } as const
  const { once } = request
  const promptOfTask = request.answersPrompt === true ? { prompt_of: call.state.id } : {}
  const apply = () =>
    applyAs(app, call, command, {
      blobs: gathered?.blobs ?? [],
      remember: (done) =>
        once === undefined ? undefined : { ...once, status: 200, answer: { ...answerOf(call, done), ...promptOfTask } },
    })
  const handled = await (gathered === null ? apply() : runWithPathLease(app, toEntering(call, request.target), apply))
  if (!handled.ok) return handled
  const hasPassed = handled.value.events.some((event) => event.type === 'gate_passed')
  if (hasPassed && gathered !== null && gathered.index !== null) {
    app.trees.settle(call.state.workspace, gathered.index)
    app.trees.mark(call.state.workspace, call.state.id, handled.value.state.phase)
  }
  if (handled.value.events.some((event) => event.type === 'consensus_requested'))
    await askReviewers(app, handled.value.state, one)
  const answer = answerOf(call, handled.value)
  if ('problem' in answer) {
    const refusal = handled.value.refusal
    return refusal === null
      ? refuse('internal_error', 'a refusal without a reason')
      : toProblem(refusal, buildAgentHelp(call.contract, handled.value.state))
  }
  return ok(answer)
}

// What keeps them from being asked now is told when the agent asks again, which tries it once more.
async function askReviewers(
  app: App,
  state: TaskState,
  { needed, gathered }: Move & { readonly gathered: Awaited<ReturnType<typeof gather>> | null },
): Promise<void> {
  const plan = needed?.consensus ?? null
  if (plan !== null && gathered !== null && gathered.vote !== null)
    await openVote(app, state, { plan, work: gathered.vote.work })
}

/** What is kept of the answer: everything but tokens and the prompt, which are made anew. */
export function answerOf(call: AgentCall, done: CommandResult): JsonObject {
  const { refusal, state } = done
  if (refusal !== null && !done.events.some((event) => event.type === 'gate_blocked'))
    return {
      problem: {
        code: refusal.code,
        detail: refusal.detail,
        extra: {
          ...buildAgentHelp(call.contract, state),
          ...(refusal.retry === undefined ? {} : { retry: { ...refusal.retry } }),
        },
        recorded: true,
      },
    }
  const blocked = done.events.find((event) => event.type === 'gate_blocked')
  if (blocked?.type === 'gate_blocked') return { body: buildBlockedAnswer(call, state, blocked) }
  const passed = done.events.find((event) => event.type === 'gate_passed')
  if (passed?.type !== 'gate_passed') throw new Error('a transition was neither passed nor blocked')
  const entered = done.events.find((event) => event.type === 'phase_entered')
  const body = {
    allowed: true,
    phase: state.phase,
    status: state.status,
    warnings: passed.warnings.map(toBlockerView),
    artifacts: [...state.artifacts.values()].map((artifact) => ({
      ...toArtifactView(artifact),
      phase: artifact.phase,
    })),
    ...(passed.violations.length === 0
      ? {}
      : {
          violation: {
            code: 'gate_blocked',
            detail: passed.violations.map((violation) => violation.message).join('; '),
          },
        }),
  }
  if (state.status === 'completed')
    return { body: { ...body, phase_token: null, expires_at: null, allowed_tools: [], prompt: null, completed: true } }
  return { body, grant: { ...makeGrant(state, call.bearer.agentId) }, entered: entered !== undefined }
}

function buildBlockedAnswer(
  call: AgentCall,
  state: TaskState,
  blocked: Extract<CommandResult['events'][number], { type: 'gate_blocked' }>,
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

// Of the votes of a visit only the newest goes on: a newer one ends those before.
function describePendingVote(state: TaskState, code: string): JsonObject {
  const run = code === 'consensus_pending' ? state.consensus?.runs.at(-1) : undefined
  return run === undefined ? {} : { pending_consensus: { id: run.id } }
}

/** The answer to a transition; also given again to a client that lost it. */
export async function moveAnswer(app: App, answer: JsonObject): Promise<JsonObject> {
  const body = answer.body as JsonObject
  if (answer.grant === undefined) return body
  const grant = answer.grant as unknown as Grant
  const state = await app.ledger.read(grant.taskId)
  const contract = await app.contracts.get(grant.contract)
  const prompt = state === null || state.phase !== grant.phase ? null : await buildPrompt(app, contract, state)
  return { ...body, ...(await issuePhaseToken(app, grant)), prompt }
}
