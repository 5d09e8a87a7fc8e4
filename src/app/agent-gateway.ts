import type { GatewaySocket } from '../gateway/gateway-ports.js'
import type { Principal } from './identity/identity.js'

export interface AgentSocketOptions {
  readonly agentId: string
  /**
   * Admits callers that the agent's own tokens do not identify, such as the reviewer or participant it was started as.
   * Never admits operators.
   */
  readonly allowed?: (principal: Exclude<Principal, { kind: 'operator' }>) => boolean
}

/** Gateways for agents that run in the sandbox. The HTTP server opens them. */
export interface AgentGateways {
  /** The folder of the sockets, including those that lead to other services. */
  readonly dir: string
  /** Opens a socket for one agent. Until it is closed, the server's port does not accept the agent's tokens. */
  open(options: AgentSocketOptions): Promise<GatewaySocket>
  /**
   * Accepts the agent's tokens only through its sockets from now on, even while it has none. The returned function
   * undoes this.
   */
  bind(agentId: string): () => void
}
