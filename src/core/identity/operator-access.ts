import { assertUnreachable } from '../unreachable.js'

/** How a session began: with the code of the first start, with a later code, or with an operator token. */
export type SessionOrigin = 'first_code' | 'code' | 'token'

/** Events about how operators log in and prove who they are, and about agents with a shell outside the sandbox. */
export type AccessFact =
  | {
      readonly type: 'session_opened'
      readonly sessionId: string
      readonly operator: string
      readonly cameFrom: SessionOrigin
      /** SHA-256 of the cookie. */
      readonly verifier: string
      readonly expiresAt: number
      readonly userAgent: string
    }
  | {
      readonly type: 'session_ended'
      readonly sessionId: string
      readonly operator: string
      readonly reason: 'logout' | 'revoked'
    }
  | {
      readonly type: 'passkey_added'
      readonly credentialId: string
      readonly label: string
      readonly operator: string
      /** COSE key, base64url: whoever has the ledger can verify what this passkey signed. */
      readonly publicKey: string
      /** The host name that the passkey is for. */
      readonly rpId: string
      readonly transports: readonly string[]
    }
  | { readonly type: 'passkey_revoked'; readonly credentialId: string; readonly operator: string }
  /** `verifier`: SHA-256 over the salt and the hash, which are in a file: it detects that the file was replaced. */
  | { readonly type: 'passphrase_set'; readonly operator: string; readonly verifier: string }
  /** The agent called a hook outside the sandbox: it has a shell under the account that started it. */
  | { readonly type: 'agent_bound_by_hooks'; readonly agentId: string; readonly agentCli: string }
  /** How the configuration of an agent CLI binds the agent, as the program that registered it says. */
  | ({ readonly type: 'agent_bound'; readonly agentId: string } & AgentBinding)

/**
 * `place`: for one session by the command that opened it, in the settings of the repository, by the plugin, or in
 * the managed settings of the machine. `mode`: its own tools are off, or hooks ask before each of them.
 */
export interface AgentBinding {
  readonly agentCli: string
  readonly place: (typeof BINDING_PLACES)[number]
  readonly mode: (typeof BINDING_MODES)[number]
}

export const BINDING_PLACES = ['session', 'project', 'plugin', 'managed'] as const
export const BINDING_MODES = ['tools_only', 'native'] as const

export interface Session {
  readonly id: string
  readonly operator: string
  readonly cameFrom: SessionOrigin
  readonly verifier: string
  readonly openedAt: number
  readonly expiresAt: number
  readonly userAgent: string
}

export interface Passkey {
  readonly credentialId: string
  readonly label: string
  readonly operator: string
  readonly publicKey: string
  readonly rpId: string
  readonly transports: readonly string[]
  readonly addedAt: number
}

/** How operators log in and confirm. */
export interface Access {
  /** Open sessions by id, oldest first; those that ended are not kept. */
  readonly sessions: ReadonlyMap<string, Session>
  /** By credential id; revoked ones are not kept. */
  readonly passkeys: ReadonlyMap<string, Passkey>
  /** The verifier of each operator's passphrase. */
  readonly passphrases: ReadonlyMap<string, string>
  /** Agents that ever called a hook outside the sandbox. */
  readonly boundByHooks: ReadonlySet<string>
  /** Of agents that an agent CLI was bound for. */
  readonly bindings: ReadonlyMap<string, AgentBinding>
}

export const EMPTY_ACCESS: Access = {
  sessions: new Map(),
  passkeys: new Map(),
  passphrases: new Map(),
  boundByHooks: new Set(),
  bindings: new Map(),
}

const SESSIONS_PER_OPERATOR_MAX = 50

export function evolveAccess(access: Access, event: AccessFact & { readonly at: number }): Access {
  switch (event.type) {
    case 'session_opened':
      return { ...access, sessions: addSession(access.sessions, event) }
    case 'session_ended':
      return { ...access, sessions: omit(access.sessions, event.sessionId) }
    case 'passkey_added': {
      const { credentialId, label, operator, publicKey, rpId, transports, at: addedAt } = event
      const passkey = { credentialId, label, operator, publicKey, rpId, transports, addedAt }
      return { ...access, passkeys: new Map(access.passkeys).set(credentialId, passkey) }
    }
    case 'passkey_revoked':
      return { ...access, passkeys: omit(access.passkeys, event.credentialId) }
    case 'passphrase_set':
      return { ...access, passphrases: new Map(access.passphrases).set(event.operator, event.verifier) }
    case 'agent_bound_by_hooks':
      return { ...access, boundByHooks: new Set(access.boundByHooks).add(event.agentId) }
    case 'agent_bound': {
      const { agentId, agentCli, place, mode } = event
      const bindings = new Map(access.bindings).set(agentId, { agentCli, place, mode })
      // Its own tools include a shell under the account of the person, before its first hook as well.
      const boundByHooks = mode === 'native' ? new Set(access.boundByHooks).add(agentId) : access.boundByHooks
      return { ...access, bindings, boundByHooks }
    }
    default:
      return assertUnreachable(event)
  }
}

/** Ends the sessions of an operator whose token was replaced or revoked. */
export function endSessions(access: Access, operator: string): Access {
  return { ...access, sessions: omitWhere(access.sessions, (session) => session.operator === operator) }
}

/** Removes everything with which a revoked operator could log in or confirm. */
export function dropOperatorAccess(access: Access, operator: string): Access {
  return {
    ...endSessions(access, operator),
    passkeys: omitWhere(access.passkeys, (passkey) => passkey.operator === operator),
    passphrases: omit(access.passphrases, operator),
  }
}

/** Whether the operator can confirm an act at all. */
export function hasCredential(access: Access, operator: string): boolean {
  return access.passphrases.has(operator) || listPasskeysOf(access, operator).length > 0
}

export function listPasskeysOf(access: Access, operator: string): readonly Passkey[] {
  return [...access.passkeys.values()].filter((passkey) => passkey.operator === operator)
}

function addSession(
  sessions: Access['sessions'],
  event: AccessFact & { type: 'session_opened'; at: number },
): Access['sessions'] {
  const { sessionId: id, operator, cameFrom, verifier, expiresAt, userAgent, at: openedAt } = event
  const kept = omitWhere(sessions, (session) => session.expiresAt <= openedAt)
  const own = [...kept.values()].filter((session) => session.operator === operator)
  const oldest = own.slice(0, Math.max(0, own.length - SESSIONS_PER_OPERATOR_MAX + 1)).map((session) => session.id)
  const open = new Map(omitWhere(kept, (session) => oldest.includes(session.id)))
  return open.set(id, { id, operator, cameFrom, verifier, openedAt, expiresAt, userAgent })
}

function omit<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  const rest = new Map(map)
  rest.delete(key)
  return rest
}

function omitWhere<Value>(
  map: ReadonlyMap<string, Value>,
  isOmitted: (value: Value) => boolean,
): ReadonlyMap<string, Value> {
  return new Map([...map].filter(([, value]) => !isOmitted(value)))
}
