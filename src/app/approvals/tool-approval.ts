import { type ApprovedTool, findToolApproval } from '../../core/approvals/tool-approval.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { ArtifactRef } from '../../core/task/fact-parts.js'
import type { Approval } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import type { App } from '../app.js'
import { type AgentCall, applyAs } from '../identity/agent-call.js'
import { toIsoTime } from '../wire.js'

const REASON_CHARS_MAX = 2000

/** What a person is asked about. */
interface Asked {
  readonly tool: ApprovedTool
  /** What the approval is bound to. */
  readonly digest: string
  /** What is shown, and the type it is shown as. */
  readonly blob: Blob
  readonly artifact: string
}

/** Opens an approval for a tool call, or finds the one of the same call. */
export async function openToolApproval(
  app: App,
  call: AgentCall<AgentBearer>,
  { tool, digest, blob, artifact: type }: Asked,
): Promise<ToolOutcome | { readonly approval: Approval }> {
  const bytes = Buffer.byteLength(blob.content)
  const artifact: ArtifactRef = { type, sha256: blob.sha256, bytes, grade: 'artifact' }
  const handled = await applyAs(app, call, { type: 'ask_tool_approval', tool, digest, artifact }, { blobs: [blob] })
  if (!handled.ok) return failTool(handled.problem.detail, handled.problem.code, handled.problem.extra)
  const { refusal, state } = handled.value
  const approval = findToolApproval(state, tool, digest)
  if (refusal !== null || approval === undefined)
    return failTool(`${tool}: ${refusal?.detail ?? 'the request was not kept'}`, refusal?.code ?? 'conflict')
  return { approval }
}

/** How an approval stands, for the agent that asked for it. */
export function describeToolApproval(
  approval: Approval,
  about: { readonly what: JsonObject; readonly ifUsed: string; readonly ifRejected: string },
): JsonObject {
  const { id, digest, status, decisions } = approval
  const told = { status, approval_id: id, digest, ...about.what }
  if (status === 'pending')
    return {
      ...told,
      expires_at: toIsoTime(approval.expiresAt),
      next_step: 'Make the same call again once a person has answered.',
    }
  if (status === 'used') return { ...told, next_step: about.ifUsed }
  return { ...told, comment: decisions.at(-1)?.comment ?? '', next_step: about.ifRejected }
}

/** The reason that an agent gave, without control characters: people read it. */
export function cleanReason(app: App, text: string): string {
  return app.redact(
    text
      .slice(0, REASON_CHARS_MAX + 1)
      .toWellFormed()
      .replace(/[^\P{Cc}\t\n\r]/gu, '\uFFFD'),
  ) as string
}

export function findReasonProblem(reason: string): string | null {
  return reason.trim() === '' || reason.length > REASON_CHARS_MAX
    ? `say why in 1 to ${REASON_CHARS_MAX} characters`
    : null
}
