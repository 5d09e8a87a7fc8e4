import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { CODES } from '../core/codes.js'
import type { AgentBearer } from '../core/identity/admit.js'
import type { JsonObject } from '../core/json.js'
import type { Command } from '../core/task/command.js'
import type { Violation } from '../core/task/fact-parts.js'
import { nextStep } from '../core/task/next-step.js'
import { getMode } from '../core/task/refusal.js'
import { type App, contextOf } from './app.js'
import { type AgentCall, admitCall, applyAs } from './identity/agent-call.js'
import { ok, type Result, refuse } from './result.js'
import { findInterrupt, toInterruptView } from './tasks/interrupts.js'
import { decideTool } from './tool-calls/use-tool.js'

const DEPTH_MAX = 256

/** The task that an agent CLI works on, for a valid token. */
export async function admitHookCall(app: App, bearer: AgentBearer): Promise<Result<AgentCall>> {
  return admitCall(app, bearer, undefined)
}

interface HookCall {
  readonly tool: string
  readonly args: JsonObject
  /** Paths of the work tree that the agent CLI will open by name. */
  readonly opens: readonly string[]
}

interface HookDecision {
  readonly allowed: boolean
  readonly reason: string
}

/**
 * Decides the tool calls that one call of an agent CLI stands for, exactly as `POST /tools/check` does. One refusal
 * refuses the whole call.
 */
export async function decideHook(app: App, call: AgentCall, calls: readonly HookCall[]): Promise<Result<HookDecision>> {
  let reason = `Allowed in ${call.state.phase}.`
  for (const { tool, args, opens } of calls) {
    // Our own tools never follow a link. An agent CLI does, and would change a different file than the one it named.
    for (const path of opens)
      if (await passesThroughLink(call.state.workspace, path))
        return refuse('constraint_violation', `${tool}: path ${JSON.stringify(path)} goes through a link`)
    const admitted = await admitCall(app, call.bearer, call.state.id)
    if (!admitted.ok) return admitted
    const decided = await decideTool(app, admitted.value, { tool, args })
    if (!decided.ok) return decided
    if (decided.value.kind === 'denied') return ok({ allowed: false, reason: formatDenial(call, decided.value.event) })
    const { violation } = decided.value.event
    if (violation !== null) reason = `Let through in ${call.state.phase}, and recorded: ${violation.detail}`
  }
  return ok({ allowed: true, reason })
}

function formatDenial(call: AgentCall, { code, detail }: Violation): string {
  const interrupt = code === 'rule_interrupt' ? findInterrupt(call.state) : null
  return [
    `${detail} [${code}]`,
    interrupt === null ? CODES[code].remedy : String(interrupt.text),
    nextStep(call.contract, call.state),
  ].join('\n')
}

async function passesThroughLink(tree: string, path: string): Promise<boolean> {
  if (path.startsWith('/')) return false
  const parts = path.split('/').slice(0, DEPTH_MAX)
  for (let count = 1; count <= parts.length; count += 1) {
    try {
      if ((await lstat(join(tree, ...parts.slice(0, count)))).isSymbolicLink()) return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return false
      return true
    }
  }
  return path.split('/').length > DEPTH_MAX
}

type HookFactGiven = Omit<Command & { type: 'record_fact' }, 'type'>

export interface HookRecorded {
  /** The text of the interrupt to show the agent now. */
  readonly interrupt: string | null
  readonly note: string | null
}

/** Records what an agent CLI did, with this server's time, and continues reading its transcript. */
export async function recordHook(
  app: App,
  call: AgentCall,
  given: { readonly fact: HookFactGiven; readonly transcripts: readonly string[] },
): Promise<Result<HookRecorded>> {
  const handled = await applyAs(app, call, { type: 'record_fact', ...given.fact })
  if (!handled.ok) return handled
  const { state, events } = handled.value
  const violated = events.find((event) => event.type === 'rule_violated' && !event.shadow)
  const told =
    violated?.type === 'rule_violated' ? toInterruptView(state, violated.violation) : takeUntoldInterrupt(app, state)
  return ok({ interrupt: told === null ? null : String(told.text), note: readOn(app, call, given.transcripts) })
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
