import { toCanonicalJson } from '../../contract/fingerprint.js'
import type { Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { ok, type Result } from '../result.js'
import { listAllowedTools } from '../tasks/views.js'
import { keepLease } from '../transitions/keep-lease.js'

/** Tools that run the project's tests or install packages, which may take longer than clients wait. */
const LONG_TOOLS: ReadonlySet<string> = new Set(['run_tests', 'request_setup_change', 'request_dependency'])

/** Runs a tool, or joins the run of the same call. A slow run is answered with `checking` and continues. */
export async function runSoon(
  app: App,
  { call, tool, args }: { readonly call: AgentCall<Bearer>; readonly tool: string; readonly args: JsonObject },
  { work, since }: { readonly work: () => Promise<Result<JsonObject>>; readonly since: number },
): Promise<Result<JsonObject>> {
  if (!LONG_TOOLS.has(tool)) return work()
  const key = keyOf(call, tool, args)
  const joined = app.longTools.find(key)
  const run = joined ?? runWhileLeased(app, call, work)
  const result = await app.longTools.answer(key, { taskId: call.state.id, work: run }, since)
  return result === 'later' ? ok(buildCheckingAnswer(call, tool)) : result
}

function keyOf({ bearer, state }: AgentCall<Bearer>, tool: string, args: JsonObject): string {
  const who = bearer.kind === 'review' ? ['reviewer', bearer.reviewer] : ['agent', bearer.agentId]
  return toCanonicalJson([...who, state.id, state.epoch, tool, args])
}

async function runWhileLeased<T>(app: App, call: AgentCall<Bearer>, work: () => Promise<T>): Promise<T> {
  const stop = call.bearer.kind === 'review' ? null : keepLease(app, call)
  try {
    return await work()
  } finally {
    stop?.()
  }
}

function buildCheckingAnswer({ bearer, contract, state }: AgentCall<Bearer>, tool: string): JsonObject {
  return {
    checking: true,
    decision: 'allowed',
    result: null,
    logged: true,
    task_id: state.id,
    phase: state.phase,
    ...(bearer.kind === 'review' ? {} : { allowed_tools: listAllowedTools(contract, state) }),
    next_step: `${tool === 'request_dependency' ? 'It is still being installed' : 'The tests are still running'}. Call ${tool} again with the same arguments to wait for the answer; change nothing meanwhile, or it is run again.`,
  }
}
