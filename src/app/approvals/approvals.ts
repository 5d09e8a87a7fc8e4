import type { ReviewBearer } from '../../core/identity/admit.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { Approver, Command } from '../../core/task/command.js'
import type { DecisionChannel } from '../../core/task/fact-parts.js'
import type { TaskState } from '../../core/task/state.js'
import { type App, contextOf } from '../app.js'
import { admitCall, applyAs, refuseForeign } from '../identity/agent-call.js'
import { formatActor, type TaskPrincipal } from '../identity/identity.js'
import { keepUnder, type Once } from '../kept-answer.js'
import type { ApplyOptions } from '../ledger/ledger.js'
import { noTask, ok, type Result, refuse, toProblem } from '../result.js'
import { toApprovalView } from '../tasks/views.js'
import { buildApprovalDetails } from './approval-details.js'
import { findChatProblem } from './in-chat.js'

const APPROVAL_ID = /^apr-\d+-(.+)$/

interface ApprovalQuery {
  readonly status: 'pending' | 'decided' | 'all'
  readonly limit: number
  readonly cursor?: string
}

/** Approvals: those that wait, newest task first, or those that were decided or requested last. */
export async function listApprovals(app: App, query: ApprovalQuery): Promise<JsonObject> {
  return query.status === 'pending' ? listPending(app, query) : listPast(app, query)
}

// By the events, newest first. An approval that a task's state no longer has is only in the ledger.
async function listPast(app: App, { status, limit, cursor }: ApprovalQuery): Promise<JsonObject> {
  const type = status === 'decided' ? 'approval_decided' : 'approval_requested'
  const page = await app.ledger.store.query({ type, limit, ...(cursor === undefined ? {} : { cursor }) })
  const found = new Map<string, JsonObject>()
  for (const event of page.items) {
    const state = await app.ledger.read(event.stream.replace(/^task:/, ''))
    const approval = state?.approvals.get(String(event.data.approval_id))
    // One that still lacks some of its approvals is not decided.
    const isWanted = approval !== undefined && (status === 'all' || approval.status !== 'pending')
    if (state !== null && isWanted && !found.has(approval.id)) found.set(approval.id, toApprovalView(state, approval))
  }
  return { approvals: [...found.values()], next_cursor: page.nextCursor }
}

async function listPending(app: App, query: ApprovalQuery): Promise<JsonObject> {
  const page = await app.ledger.store.queryTasks({
    hasApproval: true,
    limit: query.limit,
    ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
  })
  const approvals: JsonObject[] = []
  for (const row of page.items) {
    const state = await app.ledger.read(row.id)
    if (state === null) continue
    for (const approval of state.approvals.values())
      if (approval.status === 'pending') approvals.push(toApprovalView(state, approval))
  }
  return { approvals, next_cursor: page.nextCursor }
}

/** One approval with the content to approve. */
export async function showApproval(app: App, principal: TaskPrincipal, id: string): Promise<Result<JsonObject>> {
  if (isElsewhere(principal, id)) return refuseOtherTask()
  const state = await readTaskOfApproval(app, id)
  // An agent must not learn whether other tasks have such an approval.
  if (principal.kind === 'agent' && !isOwn(principal, state))
    return refuseForeign(app, principal.bearer, { taskId: APPROVAL_ID.exec(id)?.[1], what: 'approvals' })
  const approval = state?.approvals.get(id)
  if (state === null || approval === undefined)
    return refuse('not_found', `There is no approval ${JSON.stringify(id)}.`)
  if (principal.kind !== 'operator') {
    const admitted = await admitCall(app, principal.bearer, state.id)
    if (!admitted.ok) return admitted
  }
  const contents: Record<string, Json> = {}
  for (const artifact of approval.artifacts) {
    const content = await app.ledger.store.readBlob(artifact.sha256)
    contents[artifact.type] = content === null ? null : (JSON.parse(content) as Json)
  }
  const view = { ...toApprovalView(state, approval), contents }
  // An agent knows its own work, and must not see files that are hidden from it.
  if (principal.kind === 'agent') return ok(view)
  const isOperator = principal.kind === 'operator'
  return ok({ ...view, ...(await buildApprovalDetails(app, state, approval, { isOperator })) })
}

/** Takes the answer of an approver. An agent's attempt is refused and recorded with its task. */
export async function decideApproval(
  app: App,
  principal: TaskPrincipal,
  answer: {
    readonly id: string
    readonly decision: 'approve' | 'reject'
    readonly digest: string
    readonly comment: string
    /** Where the operator decided; nobody else names one. */
    readonly channel?: DecisionChannel
    readonly once: Once | undefined
  },
): Promise<Result<JsonObject>> {
  if (isElsewhere(principal, answer.id)) return refuseOtherTask()
  const found = await findApproval(app, answer.id)
  // An agent that guesses ids learns nothing from the answer, and the ledger records the attempt.
  if (found === null && principal.kind === 'agent')
    return refuse('not_permitted', 'An agent may not answer an approval.')
  if (found === null) return refuse('not_found', `There is no approval ${JSON.stringify(answer.id)}.`)
  const { state, approval } = found
  if (principal.kind === 'agent') {
    if (!isOwn(principal, state)) return refuse('not_permitted', 'An agent may not answer an approval.')
    const admitted = await admitCall(app, principal.bearer, state.id)
    if (!admitted.ok) return admitted
  }
  // An answer in the chat counts for the person in front of it: no other token can claim that.
  if (principal.kind === 'reviewer' && answer.channel !== undefined)
    return refuse('not_permitted', 'Only an operator names the channel of a decision.')
  const contract = await app.contracts.get(state.contract.hash)
  if (answer.channel === 'in_chat' && answer.decision === 'approve') {
    const problem = await findChatProblem(app, contract, state)
    if (problem !== null) return refuse('not_permitted', problem)
  }
  const comment = app.redact(answer.comment) as string
  const { decision, digest, once } = answer
  const command = {
    type: 'decide_approval',
    approvalId: approval.id,
    decision,
    digest,
    comment,
    by: toApprover(principal),
    ...(answer.channel === undefined ? {} : { channel: answer.channel }),
  } as const
  const remember: ApplyOptions['remember'] = (done) => {
    const decided = done.state.approvals.get(approval.id)
    return decided === undefined || done.refusal !== null
      ? undefined
      : keepUnder(once, 200, () => ({ body: toApprovalView(done.state, decided) }))
  }
  const handled = await (principal.kind === 'reviewer'
    ? applyAsReviewer(app, principal.bearer, state, { command, remember })
    : app.ledger.apply({ taskId: state.id, contract }, command, contextOf(app, formatActor(principal)), { remember }))
  if (handled === null) return noTask(state.id)
  if ('ok' in handled) return handled
  if (handled.refusal !== null) return toProblem(handled.refusal, {}, handled.events.length > 0)
  const decided = handled.state.approvals.get(approval.id)
  return ok(toApprovalView(handled.state, decided ?? approval))
}

// The review token is checked against the state on which the answer is decided, like every other token.
async function applyAsReviewer(
  app: App,
  bearer: ReviewBearer,
  state: TaskState,
  one: { readonly command: Command; readonly remember: ApplyOptions['remember'] },
) {
  const admitted = await admitCall(app, bearer, state.id)
  if (!admitted.ok) return admitted
  const { remember } = one
  const handled = await applyAs(app, admitted.value, one.command, remember === undefined ? {} : { remember })
  return handled.ok ? handled.value : handled
}

function toApprover(principal: TaskPrincipal): Approver {
  if (principal.kind === 'operator') return { kind: 'operator', name: principal.name, role: principal.role }
  return principal.kind === 'agent'
    ? { kind: 'agent', name: principal.bearer.agentId }
    : { kind: 'reviewer', name: principal.bearer.reviewer }
}

// A reviewer must not learn what other tasks wait for, not even that nothing is pending.
function isElsewhere(principal: TaskPrincipal, id: string): boolean {
  return principal.kind === 'reviewer' && APPROVAL_ID.exec(id)?.[1] !== principal.bearer.taskId
}

function refuseOtherTask() {
  return refuse('not_permitted', 'A reviewer sees the approvals of its own task only.')
}

function isOwn(principal: TaskPrincipal & { kind: 'agent' }, state: TaskState | null): boolean {
  return state?.held?.agentId === principal.bearer.agentId
}

async function readTaskOfApproval(app: App, id: string): Promise<TaskState | null> {
  const taskId = APPROVAL_ID.exec(id)?.[1]
  return taskId === undefined ? null : app.ledger.read(taskId)
}

async function findApproval(app: App, id: string) {
  const state = await readTaskOfApproval(app, id)
  const approval = state?.approvals.get(id)
  return state === null || approval === undefined ? null : { state, approval }
}
