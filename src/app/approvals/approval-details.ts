import type { JsonObject } from '../../core/json.js'
import type { Approval, TaskState } from '../../core/task/state.js'
import { listDifferences, type TreeIndex } from '../../tree/tree-contents.js'
import type { App } from '../app.js'
import { readCurrentTree } from '../diffs/task-diff.js'
import { diffTrees, makeUnavailable, toDiffView } from '../diffs/tree-diff.js'
import { findRefusalCode } from '../reports/refusal-code.js'
import { toCheckView } from '../tasks/check-view.js'
import { getReserved, isHiddenBy } from '../tool-calls/contract-paths.js'
import { formatApprovalMoment } from '../trees/tree-moments.js'
import { WORK_BEGAN } from '../trees/trees.js'
import { toIsoTime, toTaskEvent } from '../wire.js'
import { hashApprovalTree } from './approval-tree-hash.js'

const REFUSALS_MAX = 100
const REFUSALS_READ_MAX = 500
const PATHS_MAX = 1000

/**
 * What a person needs in order to decide: what the digest covers and whether the tree still is that, the changes, the
 * checks, the refusals on the way, and what is new since the last request.
 */
export async function buildApprovalDetails(
  app: App,
  state: TaskState,
  approval: Approval,
  by: { readonly isOperator: boolean },
): Promise<JsonObject> {
  const treeHash = approval.treeHash ?? null
  return {
    waiting_seconds: countWaitingSeconds(app, approval),
    covers: { artifacts: approval.artifacts.map(({ type, sha256 }) => ({ type, sha256 })), tree_hash: treeHash },
    outdated: approval.status === 'pending' && treeHash !== null && (await isOutdated(app, state, treeHash)),
    diff: await buildDiff(app, state, approval, by),
    checks: (approval.checks ?? []).map(toCheckView),
    refusals: await listRefusals(app, state, approval),
    since_last: compareWithLast(app, state, approval),
  }
}

function countWaitingSeconds(app: App, { requestedAt, decisions, status }: Approval): number {
  const until = status === 'pending' ? app.now() : (decisions.at(-1)?.at ?? app.now())
  return Math.max(0, Math.round((until - requestedAt) / 1000))
}

// A tree that cannot be read is not known to be the one that was asked about.
async function isOutdated(app: App, state: TaskState, treeHash: string): Promise<boolean> {
  try {
    return (await hashApprovalTree(app, state.workspace)) !== treeHash
  } catch {
    return true
  }
}

async function buildDiff(
  app: App,
  state: TaskState,
  approval: Approval,
  { isOperator }: { readonly isOperator: boolean },
): Promise<JsonObject> {
  const base = findBase(app, state, approval)
  if (base.index === null) return { ...base.from, ...makeUnavailable('The work tree as it was then was not recorded.') }
  const asked = readMoment(app, state, approval.id)
  const now = asked === null || approval.status === 'pending' ? await readCurrentTree(app, state) : null
  if (asked === null && typeof now === 'string') return { ...base.from, ...makeUnavailable(now) }
  const current = now === null || typeof now === 'string' ? null : now
  // What was asked about, not what is there now: that is what the digest covers.
  const after = asked ?? current?.after ?? base.index
  const contract = await app.contracts.get(state.contract.hash)
  const isHidden = isOperator ? () => false : isHiddenBy(getReserved(app, contract, state.workspace))
  const unexplained = current?.unexplained ?? new Set<string>()
  const diff = await diffTrees(app, { state, before: base.index, after, unexplained, isHidden, path: null })
  return { ...base.from, ...toDiffView(diff) }
}

/** The newest approval that was given before this one, or the start of the task. */
function findBase(
  app: App,
  state: TaskState,
  approval: Approval,
): { readonly from: { readonly from: JsonObject }; readonly index: TreeIndex | null } {
  const given = listEarlier(state, approval).findLast(({ status, decisions }) => isGiven(status, decisions))
  const index = given === undefined ? null : readMoment(app, state, given.id)
  if (given !== undefined && index !== null) {
    const { id, visit, phase, requestedAt } = given
    return { from: { from: { kind: 'approval', approval_id: id, visit, phase, at: toIsoTime(requestedAt) } }, index }
  }
  const start = { kind: 'start', approval_id: null, visit: 1, phase: null, at: null }
  return { from: { from: start }, index: app.trees.readMark(state.workspace, state.id, WORK_BEGAN) }
}

// Approvals of earlier visits are void, but people looked at what they approved.
function isGiven(status: Approval['status'], decisions: Approval['decisions']): boolean {
  return status === 'used' || decisions.at(-1)?.decision === 'approve'
}

function listEarlier(state: TaskState, approval: Approval): readonly Approval[] {
  const all = [...state.approvals.values()]
  return all.slice(
    0,
    all.findIndex(({ id }) => id === approval.id),
  )
}

function readMoment(app: App, state: TaskState, approvalId: string): TreeIndex | null {
  return app.trees.readMark(state.workspace, state.id, formatApprovalMoment(approvalId))
}

/** Refusals since the previous approval was requested, or since the task began; the newest. */
async function listRefusals(app: App, state: TaskState, approval: Approval): Promise<readonly JsonObject[]> {
  const since = listEarlier(state, approval).at(-1)?.requestedAt ?? state.createdAt
  const { items } = await app.ledger.store.query({
    ...{ taskId: state.id, success: false, since, until: approval.requestedAt, limit: REFUSALS_READ_MAX },
  })
  const found = items.flatMap((stored) => {
    const event = toTaskEvent(stored)
    const code = findRefusalCode(event)
    if (code === null) return []
    const detail = 'detail' in event && typeof event.detail === 'string' ? event.detail : ''
    return [{ seq: stored.seq, at: toIsoTime(stored.at), phase: stored.phase ?? '', code, detail }]
  })
  return found.slice(0, REFUSALS_MAX)
}

/** What is new since the same gate was last asked about; null: it is the first time. */
function compareWithLast(app: App, state: TaskState, approval: Approval): JsonObject | null {
  const last = listEarlier(state, approval).findLast(({ gate }) => gate === approval.gate)
  if (last === undefined) return null
  const answer = last.decisions.at(-1)
  const was = new Map(last.artifacts.map(({ type, sha256 }) => [type, sha256]))
  const is = new Map(approval.artifacts.map(({ type, sha256 }) => [type, sha256]))
  const types = [...new Set([...was.keys(), ...is.keys()])]
  const [before, after] = [readMoment(app, state, last.id), readMoment(app, state, approval.id)]
  return {
    approval_id: last.id,
    decision: answer?.decision ?? last.status,
    comment: answer?.comment ?? '',
    by: answer?.by ?? null,
    at: toIsoTime(answer?.at ?? last.requestedAt),
    changed_artifacts: types.filter((type) => was.get(type) !== is.get(type)),
    // Null: the tree of one of the requests was not recorded.
    changed_paths:
      before === null || after === null
        ? null
        : listDifferences(before, after)
            .slice(0, PATHS_MAX)
            .map(({ path }) => app.redact(path) as string),
  }
}
