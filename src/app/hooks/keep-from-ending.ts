import { openQuestions } from '../../core/approvals/question.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import { listSlotStatuses } from '../../core/reviews/reviewer-slots.js'
import { nextStep } from '../../core/task/next-step.js'
import { getMode } from '../../core/task/refusal.js'
import { type App, contextOf } from '../app.js'
import { type AgentCall, admitCall, applyAs } from '../identity/agent-call.js'
import { findNewUnexplained } from './native-changes.js'

/** How often an agent is kept from ending before its task is parked. */
const KEPT_MAX = 2

/** `keep`: the agent has to go on, for this reason. `end`: it may end; the note is for its user. */
export type StopVerdict =
  | { readonly kind: 'keep'; readonly reason: string }
  | { readonly kind: 'end'; readonly note: string | null }

/**
 * An agent that ends its turn with an unfinished task is told what is open, and kept from ending twice; then the task is
 * parked. That an agent stopped never means that it completed.
 */
export async function keepFromEnding(app: App, bearer: AgentBearer): Promise<StopVerdict> {
  const admitted = await admitCall(app, bearer, undefined, { isOnlyLooking: true })
  if (!admitted.ok) return { kind: 'end', note: null }
  const call = admitted.value
  const { state, contract } = call
  const changed = await reportNewChanges(app, call)
  if (isWaiting(app, call)) return { kind: 'end', note: changed }
  const open = `Task ${state.id} is not finished: it is in ${state.phase}. ${nextStep(contract, state)}`
  const count = app.hookSessions.countKept(bearer.agentId, 'session')
  if (count <= KEPT_MAX)
    return {
      kind: 'keep',
      reason: [...(changed === null ? [] : [changed]), open, `${HOW} (${count}/${KEPT_MAX})`].join('\n'),
    }
  const reason = `Agent ${bearer.agentId} ended its turn in ${state.phase} ${KEPT_MAX + 1} times without going on.`
  if (getMode(contract, state) === 'advisory') return { kind: 'end', note: `${reason} ${open}` }
  const context = contextOf(app, 'system')
  await app.ledger.apply({ taskId: state.id, contract }, { type: 'park', reason }, context)
  return {
    kind: 'end',
    note: `${reason} Task ${state.id} is parked. Go on with: phaselock task resume ${state.id} --reason TEXT`,
  }
}

const HOW =
  'Go on now. If a person has to answer or to decide something first, ask with the tool ask_user_question or request the transition: then you may wait.'

/** A subagent is kept from ending only while it leaves changes behind that the phase does not allow. */
export async function keepSubagentFromEnding(
  app: App,
  bearer: AgentBearer,
  subagent: string | null,
): Promise<StopVerdict> {
  const admitted = await admitCall(app, bearer, undefined, { isOnlyLooking: true })
  if (!admitted.ok) return { kind: 'end', note: null }
  const changed = await reportNewChanges(app, admitted.value)
  if (changed === null) return { kind: 'end', note: null }
  const isKept = app.hookSessions.countKept(bearer.agentId, `subagent ${subagent ?? ''}`) <= KEPT_MAX
  return isKept ? { kind: 'keep', reason: `${changed}\nUndo it before you end.` } : { kind: 'end', note: changed }
}

async function reportNewChanges(app: App, call: AgentCall): Promise<string | null> {
  const report = await findNewUnexplained(app, call)
  if (report === null) return null
  const handled = await applyAs(app, call, report)
  return handled.ok ? (handled.value.refusal?.detail ?? null) : null
}

// People, reviewers or running gates decide what happens next.
function isWaiting(app: App, { state }: AgentCall): boolean {
  return (
    state.status !== 'active' ||
    openQuestions(state).length > 0 ||
    app.checking.isChecking(state.id) ||
    listSlotStatuses(state).some((slot) => slot.status !== 'finished')
  )
}

/** The session of an agent CLI ended: its task is interrupted at once, and goes on with the agent's next call. */
export async function endSession(app: App, bearer: AgentBearer, reason: string): Promise<void> {
  const admitted = await admitCall(app, bearer, undefined, { isOnlyLooking: true })
  if (!admitted.ok) return
  const { state, contract } = admitted.value
  const { held } = state
  if (held === null) return
  const command = { type: 'drop_agent', agentId: bearer.agentId, instance: held.instance, reason } as const
  await app.ledger.apply({ taskId: state.id, contract }, command, contextOf(app, `agent:${bearer.agentId}`))
}
