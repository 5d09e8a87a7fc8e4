import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'
import type { AgentBearer } from '../core/admit.js'

/** How the protocol layer carries the caller from the entrance to a handler: what the token says, never the token. */
export function authInfoOf(bearer: AgentBearer): AuthInfo {
  return { token: '', clientId: bearer.agentId, scopes: [], extra: { bearer } }
}

/** Who sent the request that is being handled. Every request proves it anew, also within a session. */
export function bearerOf(context: ServerContext): AgentBearer {
  const bearer = context.http?.authInfo?.extra?.bearer as AgentBearer | undefined
  if (bearer === undefined) throw new Error('a request reached a handler without a caller')
  return bearer
}
