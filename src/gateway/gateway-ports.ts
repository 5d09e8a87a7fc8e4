/** A unix socket that a sandboxed agent gets. */
export interface GatewaySocket {
  readonly path: string
  /** Accepts no new connections, and ends existing ones. */
  close(): Promise<void>
}

/** Ports of the loopback in the sandbox, which belongs to one agent alone, so they are the same for all. */
export const ORCHESTRATOR_PORT = 8700
export const MODEL_PORT = 8701

/** The address of Phaselock for a sandboxed agent. */
export const ORCHESTRATOR_URL = `http://127.0.0.1:${ORCHESTRATOR_PORT}`
export const MODEL_ORIGIN = `http://127.0.0.1:${MODEL_PORT}`

/** The Host names of requests through an agent's socket: the defaults of unix socket clients, and the port inside. */
export const DOOR_HOSTS: ReadonlySet<string> = new Set([
  'localhost',
  `localhost:${ORCHESTRATOR_PORT}`,
  `127.0.0.1:${ORCHESTRATOR_PORT}`,
])
