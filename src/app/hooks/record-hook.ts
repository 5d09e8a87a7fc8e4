import type { AgentBearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { Command } from '../../core/task/command.js'
import { getMode } from '../../core/task/refusal.js'
import { type App, contextOf } from '../app.js'
import { type AgentCall, admitCall, applyAs } from '../identity/agent-call.js'
import type { CommandResult } from '../ledger/ledger.js'
import { ok, type Result } from '../result.js'
import { findInterrupt, toInterruptView } from '../tasks/interrupts.js'
import { type NativeCall, settleNativeCall } from './native-changes.js'

type HookFactGiven = Omit<Command & { type: 'record_fact' }, 'type' | 'changes' | 'changeCount'>

export interface HookRecorded {
  /** The text to show the agent now: an interrupt, or changes that its phase does not allow. */
  readonly interrupt: string | null
  readonly note: string | null
}

interface HookReport {
  readonly fact: HookFactGiven
  /** The call, to find out what it changed. */
  readonly native: NativeCall
  readonly transcripts: readonly string[]
}

/** Records what an agent CLI did, with this server's time, and continues reading its transcript. */
export async function recordHook(app: App, call: AgentCall, given: HookReport): Promise<Result<HookRecorded>> {
  const { fact } = given
  const found = await settleNativeCall(app, call, given.native)
  const paths = [...new Set([...fact.paths, ...found.changes.map(({ path }) => path)])]
  const changed = found.changes.length === 0 ? {} : { changes: found.changes, changeCount: found.changes.length }
  const handled = await applyAs(app, call, { type: 'record_fact', ...fact, paths, ...changed })
  if (!handled.ok) return handled
  const { state, events } = handled.value
  const refused: string[] = []
  for (const report of found.reports) {
    const reported = await applyAs(app, call, report)
    if (!reported.ok) return reported
    if (reported.value.refusal !== null) refused.push(formatRefusedChange(reported.value))
  }
  const violated = events.find((event) => event.type === 'rule_violated' && !event.shadow)
  const told =
    violated?.type === 'rule_violated' ? toInterruptView(state, violated.violation) : takeUntoldInterrupt(app, state)
  const texts = [...refused, ...(told === null ? [] : [String(told.text)])]
  return ok({
    interrupt: texts.length === 0 ? null : texts.join('\n\n'),
    note: readOn(app, call, given.transcripts),
  })
}

function formatRefusedChange({ refusal, state }: CommandResult): string {
  const text = refusal?.retry?.text ?? refusal?.detail ?? ''
  const end =
    state.status === 'parked'
      ? `Task ${state.id} is parked.`
      : `${state.phase} stays closed while the change is there: undo it now, or ask an operator (phaselock revert ${state.id}).`
  return `${text} [${refusal?.code ?? ''}]\n${end}`
}

/** The message after a call of one of Phaselock's own tools, which was recorded when it arrived. */
export async function followOwnTool(
  app: App,
  bearer: AgentBearer,
  transcripts: readonly string[],
): Promise<Result<HookRecorded>> {
  const call = await admitCall(app, bearer, undefined, { isOnlyLooking: true })
  // The agent may have given the task back, or found none.
  if (!call.ok) return ok({ interrupt: null, note: null })
  const told = takeUntoldInterrupt(app, call.value.state)
  return ok({ interrupt: told === null ? null : String(told.text), note: readOn(app, call.value, transcripts) })
}

/**
 * A tool ran under the name of a Phaselock tool, but no call arrived: another MCP server has that name. Its effects
 * were never checked, so the task is parked for an operator.
 */
export async function parkForImpostor(
  app: App,
  bearer: AgentBearer,
  tool: string,
): Promise<HookRecorded & { readonly isParked: boolean }> {
  const said = `${tool} was answered, but agent ${bearer.agentId} made no such call to Phaselock. Its MCP server named phaselock is another program or another Phaselock, or it uses the token of another agent.`
  const call = await admitCall(app, bearer, undefined, { isOnlyLooking: true })
  if (!call.ok) return { interrupt: said, note: said, isParked: false }
  const { state, contract } = call.value
  if (getMode(contract, state) === 'advisory') return { interrupt: said, note: said, isParked: false }
  const remedy = `Correct the MCP entry, look at what was changed, then: phaselock task resume ${state.id} --reason TEXT`
  const context = contextOf(app, 'system')
  await app.ledger.apply({ taskId: state.id, contract }, { type: 'park', reason: `${said} ${remedy}` }, context)
  const told = `${said} Task ${state.id} is parked. ${remedy}`
  return { interrupt: told, note: told, isParked: true }
}

function readOn(app: App, { state, bearer }: AgentCall, paths: readonly string[]): string | null {
  return app.transcripts.wake(app, { taskId: state.id, agentId: bearer.agentId, paths })
}

// A budget exceeded by transcript usage was detected while no call was open to report it.
function takeUntoldInterrupt(app: App, state: AgentCall['state']): JsonObject | null {
  const { open } = state.watch
  return open !== null && app.transcripts.takeUntold(state.id, open.rule) ? findInterrupt(state) : null
}
