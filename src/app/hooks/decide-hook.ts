import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { CODES } from '../../core/codes.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { Violation } from '../../core/task/fact-parts.js'
import { nextStep } from '../../core/task/next-step.js'
import type { App } from '../app.js'
import { type AgentCall, admitCall } from '../identity/agent-call.js'
import { ok, type Result, refuse } from '../result.js'
import { findInterrupt } from '../tasks/interrupts.js'
import { decideTool } from '../tool-calls/use-tool.js'

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
