import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'
import {
  type AgentBearer,
  formatBearerName,
  type ParticipantBearer,
  type ReviewBearer,
} from '../core/identity/admit.js'

/** Who may connect: agents of tasks, their reviewers, and participants of councils. */
export type McpBearer = AgentBearer | ReviewBearer | ParticipantBearer

/** How the protocol layer passes the caller to a handler: the token's claims, never the token. */
export function toAuthInfo(bearer: McpBearer): AuthInfo {
  return { token: '', clientId: formatOwner(bearer), scopes: [], extra: { bearer } }
}

/**
 * The key under which sessions and connections are counted. An agent, a reviewer and a participant of the same name are
 * three.
 */
export function formatOwner(bearer: McpBearer): string {
  if (bearer.kind === 'participant') return `participant:${bearer.agentId}@${bearer.runId}`
  return bearer.kind === 'review' ? `${formatBearerName(bearer)}@${bearer.taskId}` : bearer.agentId
}

export function isAgent(bearer: McpBearer): bearer is AgentBearer {
  return bearer.kind === 'agent' || bearer.kind === 'phase'
}

/** The sender of the current request. Every request proves it again, even within a session. */
export function requireAgentBearer(context: ServerContext): AgentBearer {
  const bearer = getCaller(context)
  if (!isAgent(bearer)) throw new Error('the tools of agents were reached by somebody else')
  return bearer
}

export function requireReviewer(context: ServerContext): ReviewBearer {
  const bearer = getCaller(context)
  if (bearer.kind !== 'review') throw new Error('the tools of reviewers were reached by somebody else')
  return bearer
}

export function requireParticipant(context: ServerContext): ParticipantBearer {
  const bearer = getCaller(context)
  if (bearer.kind !== 'participant') throw new Error('the tools of a coordination were reached by somebody else')
  return bearer
}

function getCaller(context: ServerContext): McpBearer {
  const bearer = context.http?.authInfo?.extra?.bearer as McpBearer | undefined
  if (bearer === undefined) throw new Error('a request reached a handler without a caller')
  return bearer
}
