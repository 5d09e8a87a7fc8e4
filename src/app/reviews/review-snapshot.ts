import type { ReviewBearer } from '../../core/identity/admit.js'
import type { Json, JsonObject } from '../../core/json.js'
import { listAskedReviews } from '../../core/reviews/review.js'
import type { KeptArtifact, TaskState } from '../../core/task/state.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { App } from '../app.js'
import { admitCall, buildReviewerHelp } from '../identity/agent-call.js'
import type { TaskPrincipal } from '../identity/identity.js'
import { noTask, ok, type Result, refuse } from '../result.js'
import { toArtifactView, toPendingView } from '../tasks/views.js'
import { buildHeldOutView } from '../test-runs/held-out.js'
import { toIsoTimeOrNull } from '../wire.js'
import { reportOf } from './review-report.js'
import { hashReviewSubject } from './review-subject.js'
import { reviewStatuses, tryRead } from './reviews.js'

const CONTENTS_BYTES_MAX = 64 * 1024
const REPORT_BYTES_SHOWN_MAX = 16 * 1024
const TEXT_CHARS_MAX = 2000

/** What a reviewer may see: the one task, its artifacts, and its own report. Always under 100 KB. */
export async function reviewSnapshot(app: App, bearer: ReviewBearer): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, bearer, undefined)
  if (!admitted.ok) return admitted
  const { state, contract } = admitted.value
  const phase = requirePhase(contract, state.phase)
  const own = state.reviewers.get(bearer.reviewer)
  const isShown = own?.report !== null && own?.report !== undefined && own.report.bytes <= REPORT_BYTES_SHOWN_MAX
  const { artifacts, isCut } = await collectArtifacts(app, state)
  const heldOut = state.heldOut === undefined ? {} : { held_out: await buildHeldOutPart(app, state) }
  const cut = (text: string): string => (text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text)
  const { allowed_tools = [], next_step = '' } = buildReviewerHelp(state)
  return ok({
    task: {
      id: state.id,
      title: state.title,
      description: cut(state.description),
      status: state.status,
      phase: state.phase,
      visit: state.visit,
      agent_id: state.held?.agentId ?? null,
      contract: { ...state.contract },
      completed_phases: state.completedPhases,
    },
    current_phase: { id: phase.id, name: phase.name, description: cut(phase.description) },
    reviewer: bearer.reviewer,
    expires_at: toIsoTimeOrNull(own?.expiresAt ?? null),
    required_reviews: listAskedReviews(phase),
    reviews: reviewStatuses(state),
    pending_approval: toPendingView(state),
    artifacts,
    ...heldOut,
    report: isShown ? await reportOf(app, own.report.sha256) : null,
    subject: await tryRead(() => hashReviewSubject(app, state)),
    allowed_tools,
    next_step,
    truncated: isCut || state.description.length > TEXT_CHARS_MAX,
  })
}

// Larger ones are read with `GET /tasks/{id}/held-out`.
async function buildHeldOutPart(app: App, state: TaskState): Promise<Json> {
  const view = await buildHeldOutView(app, state)
  return JSON.stringify(view).length <= REPORT_BYTES_SHOWN_MAX ? view : { count: view.count ?? 0, examples: null }
}

// Smallest first, so that one artifact that is too large does not hide the others.
async function collectArtifacts(
  app: App,
  state: TaskState,
): Promise<{ artifacts: readonly JsonObject[]; isCut: boolean }> {
  const artifacts: JsonObject[] = []
  let room = CONTENTS_BYTES_MAX
  for (const kept of [...state.artifacts.values()].toSorted((a, b) => a.bytes - b.bytes)) {
    const isShown = kept.bytes <= room
    if (isShown) room -= kept.bytes
    artifacts.push({ ...toArtifactRow(kept), content: isShown ? await readContent(app, kept) : null })
  }
  return { artifacts, isCut: artifacts.some((artifact) => artifact.content === null) }
}

function toArtifactRow(kept: KeptArtifact): JsonObject {
  return { ...toArtifactView(kept), phase: kept.phase, visit: kept.visit }
}

async function readContent(app: App, kept: KeptArtifact): Promise<Json> {
  const content = await app.ledger.store.readBlob(kept.sha256)
  return content === null ? null : (JSON.parse(content) as Json)
}

/** One whole artifact of a task, for its reviewers and for operators. */
export async function showArtifact(
  app: App,
  principal: Exclude<TaskPrincipal, { kind: 'agent' }>,
  asked: { readonly taskId: string; readonly type: string },
): Promise<Result<JsonObject>> {
  if (principal.kind === 'reviewer') {
    const admitted = await admitCall(app, principal.bearer, asked.taskId)
    if (!admitted.ok) return admitted
  }
  const state = await app.ledger.read(asked.taskId)
  if (state === null) return noTask(asked.taskId)
  const kept = state.artifacts.get(asked.type)
  if (kept === undefined)
    return refuse(
      'not_found',
      `Task ${state.id} has no artifact ${JSON.stringify(asked.type)}. It has: ${[...state.artifacts.keys()].join(', ') || 'none'}`,
    )
  return ok({ task_id: state.id, ...toArtifactRow(kept), content: await readContent(app, kept) })
}
