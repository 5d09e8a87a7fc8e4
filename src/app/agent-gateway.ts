import type { DoorSocket } from '../gateway/gateway-ports.js'
import type { Principal } from './identity/identity.js'

export interface AgentSocketOptions {
  readonly agentId: string
  /** Lets in whom the agent's own tokens do not prove, such as the reviewer or participant that it was started as. Never operators. */
  readonly allowed?: (principal: Exclude<Principal, { kind: 'operator' }>) => boolean
}

/** Ways in for agents that run behind the wall. The entrance has them. */
export interface AgentDoors {
  /** The folder of the sockets: for those that lead elsewhere, too. */
  readonly dir: string
  /** A socket for one agent. Until it is closed, the agent's tokens count for nothing on the port of the server. */
  open(options: AgentSocketOptions): Promise<DoorSocket>
  /** From now on the agent is answered through its sockets alone, also while it has none. Undone by what is returned. */
  bind(agentId: string): () => void
}
