import type { Json, JsonObject } from '../core/contract.js'
import { admitCall } from './agent-call.js'
import { type App, contextOf, type Once } from './app.js'
import { actorOf, type Party } from './identity.js'
import { ok, type Result, refuse, refusedBy } from './result.js'
import { approvalView } from './views.js'

const APPROVAL_ID = /^apr-\d+-(.+)$/

/** Pending approvals, oldest task first; an agent sees only those of its own task. */
export async function listApprovals(
  app: App,
  query: { readonly limit: number; readonly cursor?: string },
): Promise<JsonObject> {
  const page = await app.ledger.store.tasks({
    hasApproval: true,
    limit: query.limit,
    ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
  })
  const approvals: JsonObject[] = []
  for (const row of page.items) {
    const state = await app.ledger.read(row.id)
    if (state === null) continue
    for (const approval of state.approvals.values())
      if (approval.status === 'pending') approvals.push(approvalView(state, approval))
  }
  return { approvals, next_cursor: page.nextCursor }
}

/** One approval with the content that is to be approved. */
export async function showApproval(app: App, principal: Party, id: string): Promise<Result<JsonObject>> {
  const found = await findApproval(app, id)
  if (found === null) return refuse('not_found', `There is no approval ${JSON.stringify(id)}.`)
  const { state, approval } = found
  if (principal.kind === 'agent') {
    if (!isOwn(principal, state)) return refuse('not_permitted', 'An agent sees the approvals of its own task only.')
    const admitted = await admitCall(app, principal.bearer, state.id)
    if (!admitted.ok) return admitted
  }
  const contents: Record<string, Json> = {}
  for (const artifact of approval.artifacts) {
    const content = await app.ledger.store.blob(artifact.sha256)
    contents[artifact.type] = content === null ? null : (JSON.parse(content) as Json)
  }
  return ok({ ...approvalView(state, approval), contents })
}

/** Takes the answer of an approver. An agent's attempt is refused and recorded with its task. */
export async function decideApproval(
  app: App,
  principal: Party,
  answer: {
    readonly id: string
    readonly decision: 'approve' | 'reject'
    readonly digest: string
    readonly comment: string
    readonly once: Once | undefined
  },
): Promise<Result<JsonObject>> {
  const found = await findApproval(app, answer.id)
  if (found === null) return refuse('not_found', `There is no approval ${JSON.stringify(answer.id)}.`)
  const { state, approval } = found
  if (principal.kind === 'agent') {
    if (!isOwn(principal, state)) return refuse('not_permitted', 'An agent may not answer an approval.')
    const admitted = await admitCall(app, principal.bearer, state.id)
    if (!admitted.ok) return admitted
  }
  const by =
    principal.kind === 'operator'
      ? { kind: 'operator' as const, name: principal.name, role: principal.role }
      : { kind: 'agent' as const, name: principal.bearer.agentId }
  const contract = await app.contracts.get(state.contract.hash)
  const { once } = answer
  const comment = app.redact(answer.comment) as string
  const handled = await app.ledger.apply(
    { taskId: state.id, contract },
    { type: 'decide_approval', approvalId: approval.id, decision: answer.decision, digest: answer.digest, comment, by },
    contextOf(app, actorOf(principal)),
    {
      remember: (done) => {
        const decided = done.state.approvals.get(approval.id)
        return once === undefined || decided === undefined || done.refusal !== null
          ? undefined
          : { ...once, status: 200, answer: { body: approvalView(done.state, decided) } }
      },
    },
  )
  if (handled === null) return refuse('not_found', `There is no task ${state.id}.`)
  if (handled.refusal !== null) return refusedBy(handled.refusal, {}, handled.events.length > 0)
  const decided = handled.state.approvals.get(approval.id)
  return ok(approvalView(handled.state, decided ?? approval))
}

function isOwn(
  principal: Party & { kind: 'agent' },
  state: { readonly id: string; readonly held: { readonly agentId: string } | null },
): boolean {
  return state.held?.agentId === principal.bearer.agentId
}

async function findApproval(app: App, id: string) {
  const taskId = APPROVAL_ID.exec(id)?.[1]
  const state = taskId === undefined ? null : await app.ledger.read(taskId)
  const approval = state?.approvals.get(id)
  return state === null || approval === undefined ? null : { state, approval }
}
