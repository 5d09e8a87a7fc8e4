import type { Command, Context } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import { type Decision, makeDecision } from '../task/refusal.js'
import type { Approval, TaskState } from '../task/state.js'
import { isByHolder } from './approval.js'

/** Tools whose call a person has to approve. Their names stand in place of a gate id in approvals. */
export type ApprovedTool = 'request_setup_change' | 'request_dependency'

const ANSWER_MS_MAX = 24 * 60 * 60 * 1000
const ANSWERABLE: ReadonlySet<Approval['status']> = new Set(['pending', 'approved', 'rejected', 'used'] as const)

/** The newest request of this visit for exactly this content; undefined if there is none. */
export function findToolApproval(state: TaskState, tool: ApprovedTool, digest: string): Approval | undefined {
  return listOfVisit(state, tool)
    .filter((approval) => approval.digest === digest && ANSWERABLE.has(approval.status))
    .at(-1)
}

/** The approval of exactly this content, if it is valid now. */
export function findGranted(
  state: TaskState,
  { tool, digest }: { readonly tool: ApprovedTool; readonly digest: string },
  { now }: Pick<Context, 'now'>,
): Approval | null {
  const approval = findToolApproval(state, tool, digest)
  const isGranted = approval?.status === 'approved' && approval.expiresAt > now && !isByHolder(state, approval)
  return isGranted ? approval : null
}

/** Requests an approval. Repeating it opens no second request; another content withdraws the previous one. */
export function askToolApproval(
  state: TaskState,
  command: Command & { type: 'ask_tool_approval' },
  context: Context,
): Decision {
  const { tool, digest } = command
  if (findToolApproval(state, tool, digest) !== undefined) return makeDecision([])
  const withdrawn = listOfVisit(state, tool)
    .filter((approval) => approval.status === 'pending')
    .map(
      ({ id }): TaskFact => ({
        type: 'approval_voided',
        approvalId: id,
        reason: 'the agent asked about another change',
      }),
    )
  return makeDecision([
    ...withdrawn,
    {
      type: 'approval_requested',
      approvalId: `apr-${state.version}-${state.id}`,
      gate: tool,
      to: state.phase,
      digest,
      approvers: ['human'],
      minApprovals: 1,
      expiresAt: context.now + ANSWER_MS_MAX,
      artifacts: [command.artifact],
      evidence: {},
      warnings: [],
    },
  ])
}

/** The requests of this visit, oldest first. */
export function listOfVisit(state: TaskState, tool: ApprovedTool): readonly Approval[] {
  return [...state.approvals.values()].filter((approval) => approval.gate === tool && approval.visit === state.visit)
}
