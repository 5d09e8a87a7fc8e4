import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'
import type { AgentBearer, ParticipantBearer } from '../core/admit.js'

/** Who may come in: agents of tasks, and participants of coordinations. */
export type McpBearer = AgentBearer | ParticipantBearer

/** How the protocol layer carries the caller from the entrance to a handler: what the token says, never the token. */
export function authInfoOf(bearer: McpBearer): AuthInfo {
  return { token: '', clientId: bearer.agentId, scopes: [], extra: { bearer } }
}

/** Whose sessions and connections are counted together. An agent and a participant of the same name are two. */
export function ownerOf(bearer: McpBearer): string {
  return bearer.kind === 'participant' ? `participant:${bearer.agentId}@${bearer.runId}` : bearer.agentId
}

/** Who sent the request that is being handled. Every request proves it anew, also within a session. */
export function bearerOf(context: ServerContext): AgentBearer {
  const bearer = callerOf(context)
  if (bearer.kind === 'participant') throw new Error('a participant reached the tools of tasks')
  return bearer
}

export function participantOf(context: ServerContext): ParticipantBearer {
  const bearer = callerOf(context)
  if (bearer.kind !== 'participant') throw new Error('an agent reached the tools of a coordination')
  return bearer
}

function callerOf(context: ServerContext): McpBearer {
  const bearer = context.http?.authInfo?.extra?.bearer as McpBearer | undefined
  if (bearer === undefined) throw new Error('a request reached a handler without a caller')
  return bearer
}
