import { isByHolder } from '../approvals/approval.js'
import type { Command, Context } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import { type Decision, makeDecision, refuseUnrecorded } from '../task/refusal.js'
import type { Approval, TaskState } from '../task/state.js'

/** Used in place of a gate id in approvals. */
const SETUP_GATE = 'request_setup_change'
const ANSWER_MS_MAX = 24 * 60 * 60 * 1000

type Ask = Command & { type: 'ask_setup_change' }
type Pin = Command & { type: 'pin_setup' }

/** The newest request of this visit for exactly this setup change; undefined if there is none. */
export function findSetupApproval(state: TaskState, digest: string): Approval | undefined {
  return listOfVisit(state)
    .filter((approval) => approval.digest === digest && ANSWERABLE.has(approval.status))
    .at(-1)
}

const ANSWERABLE: ReadonlySet<Approval['status']> = new Set(['pending', 'approved', 'rejected', 'used'] as const)

/**
 * Requests approval of changed test setup. Repeating it opens no second request; another change withdraws the previous
 * one.
 */
export function askSetupChange(state: TaskState, command: Ask, context: Context): Decision {
  if (findSetupApproval(state, command.digest) !== undefined) return makeDecision([])
  const withdrawn = listOfVisit(state)
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
      gate: SETUP_GATE,
      to: state.phase,
      digest: command.digest,
      approvers: ['human'],
      minApprovals: 1,
      expiresAt: context.now + ANSWER_MS_MAX,
      artifacts: [command.artifact],
      evidence: {},
      warnings: [],
    },
  ])
}

/** Records approved test setup, with the run in which the tests failed under it. */
export function pinSetup(state: TaskState, command: Pin, context: Context): Decision {
  const approval = findSetupApproval(state, command.digest)
  if (approval?.status !== 'approved' || approval.expiresAt <= context.now || isByHolder(state, approval))
    return refuseUnrecorded('conflict', 'The approval of exactly this change no longer exists.')
  const { files, run, paths, observed } = command
  const setup = { approvalId: approval.id, digest: approval.digest, paths, observed }
  return makeDecision([{ type: 'tests_pinned', files, run, setup }])
}

function listOfVisit(state: TaskState): readonly Approval[] {
  return [...state.approvals.values()].filter(
    (approval) => approval.gate === SETUP_GATE && approval.visit === state.visit,
  )
}
