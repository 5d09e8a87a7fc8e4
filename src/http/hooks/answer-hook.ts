import { buildCapsule } from '../../app/hooks/capsule.js'
import { admitHookCall } from '../../app/hooks/decide-hook.js'
import {
  endSession,
  keepFromEnding,
  keepSubagentFromEnding,
  type StopVerdict,
} from '../../app/hooks/keep-from-ending.js'
import { ok, type Result, refuse } from '../../app/result.js'
import type { JsonObject } from '../../core/json.js'
import type { HookDialect, HookMessage } from '../../hooks/hook-message.js'
import { type Call, requireBearer } from '../route.js'
import { decideBeforeTool, recordAfterTool } from './tool-hooks.js'

/** The session goes on under another id. */
const GOES_ON: ReadonlySet<string> = new Set(['clear', 'resume'])

/** Answers a message of a hook. One decision for all agent CLIs; the dialect only says it in their words. */
export async function answerHook(call: Call, dialect: HookDialect, hook: HookMessage): Promise<Result<JsonObject>> {
  const { hookSessions } = call.app
  const { agentId } = requireBearer(call)
  switch (hook.kind) {
    case 'before_tool':
    case 'after_tool':
      if (hookSessions.isForeign(agentId, hook.session))
        return refuse('token_mismatch', `session_id: ${hook.session} is not a session of agent ${agentId}.`)
      return hook.kind === 'before_tool' ? decideBeforeTool(call, dialect, hook) : recordAfterTool(call, dialect, hook)
    case 'session_start':
      hookSessions.announce(agentId, hook.session)
      return tellCapsule(call, dialect, hook)
    case 'prompt':
      hookSessions.announce(agentId, hook.session)
      hookSessions.forgetKept(agentId)
      return tellCapsule(call, dialect, hook)
    case 'subagent_start':
      return tellCapsule(call, dialect, hook)
    case 'stop':
      return ok(toStopAnswer(dialect, hook, await keepFromEnding(call.app, requireBearer(call))))
    case 'subagent_stop':
      return ok(toStopAnswer(dialect, hook, await keepSubagentFromEnding(call.app, requireBearer(call), hook.subagent)))
    case 'session_end':
      if (!GOES_ON.has(hook.reason))
        await endSession(call.app, requireBearer(call), `the ${dialect.title} session ended (${hook.reason})`)
      return ok(dialect.answers.pass(null))
    case 'config_change':
      return refuseConfigChange(hook)
    case 'before_compact':
      return ok(dialect.answers.pass(null))
  }
}

// Without a task the model is told how to get one; with a dead token, the refusal.
async function tellCapsule(call: Call, dialect: HookDialect, hook: HookMessage): Promise<Result<JsonObject>> {
  const admitted = await admitHookCall(call.app, requireBearer(call))
  if (admitted.ok) {
    const who = hook.kind === 'subagent_start' ? 'subagent' : 'session'
    return ok(dialect.answers.addContext(hook.event, await buildCapsule(call.app, admitted.value, who)))
  }
  const { code, detail } = admitted.problem
  if (code !== 'no_active_task' && code !== 'task_not_active') return admitted
  const next = code === 'no_active_task' ? CLAIM_FIRST : String(admitted.problem.extra.next_step ?? '')
  return ok(dialect.answers.addContext(hook.event, `Phaselock: ${detail} ${next}`))
}

export const CLAIM_FIRST =
  'Claim a task: call the tool claim_task of the MCP server phaselock (without it: POST /api/v1/tasks/claim).'

function toStopAnswer({ answers }: HookDialect, hook: HookMessage, verdict: StopVerdict): JsonObject {
  return verdict.kind === 'keep' ? answers.keepGoing(hook.event, verdict.reason) : answers.pass(verdict.note)
}

// What the file contains when the agent CLI reads it cannot be known here, so no change is taken over by a session.
function refuseConfigChange({ source, file }: HookMessage & { kind: 'config_change' }): Result<JsonObject> {
  const what = file === null ? source : `${source} (${file})`
  return refuse(
    'not_permitted',
    `Settings that changed are not taken over while Phaselock leads the session: ${what}. They could remove its hooks.`,
    { remedy: 'End the session and begin another one to use them.' },
  )
}
