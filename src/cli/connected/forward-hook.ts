import { isObject } from '../../core/json.js'
import type { SessionServer } from '../launch/session-server.js'
import type { ShimHandler } from '../launch/session-shim.js'
import { BEGIN_TASK } from './begin-task.js'

const SERVER_MS_MAX = 50_000
const OWN = new Set([`mcp__phaselock__${BEGIN_TASK}`, `mcp__plugin_phaselock_phaselock__${BEGIN_TASK}`])

/** Carries a hook of the session to the server, with the token of its agent. */
export function forwardHook(server: SessionServer, token: string, agentCli: string): ShimHandler {
  return async (_request, body) => {
    if (!isObject(body)) return refuseHook(400, 'The hook is not a JSON object.')
    const event = String(body.hook_event_name ?? '')
    // A tool of this process, which the server does not know.
    if (OWN.has(String(body.tool_name)) && event.endsWith('ToolUse'))
      return Response.json(event === 'PreToolUse' ? makeDecision('allow', 'The person is asked about it.') : {})
    try {
      const answer = await server.send(token, {
        path: `/api/v1/hooks/${agentCli}`,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(SERVER_MS_MAX),
      })
      return new Response(await answer.text(), {
        status: answer.status,
        headers: { 'content-type': 'application/json' },
      })
    } catch (error) {
      return refuseHook(
        503,
        `Phaselock's server does not answer (${error instanceof Error ? error.message : 'fault'}).`,
      )
    }
  }
}

export function refuseHook(status: number, detail: string): Response {
  return Response.json({ error: detail }, { status })
}

function makeDecision(permissionDecision: 'allow' | 'deny', reason: string) {
  return {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason: reason },
  }
}
