/** A unix socket that somebody behind the wall is given. */
export interface DoorSocket {
  readonly path: string
  /** Nobody is let in any more, and who is in is sent out. */
  close(): Promise<void>
}

/** Ports of the loopback inside, which belongs to one agent alone: they are the same for all. */
export const ORCHESTRATOR_PORT = 8700
export const MODEL_PORT = 8701

/** Where an agent behind the wall finds Phaselock. */
export const ORCHESTRATOR_URL = `http://127.0.0.1:${ORCHESTRATOR_PORT}`
export const MODEL_ORIGIN = `http://127.0.0.1:${MODEL_PORT}`

/** The names that requests through the socket of an agent are made under: what clients of unix sockets say, and the port inside. */
export const DOOR_HOSTS: ReadonlySet<string> = new Set([
  'localhost',
  `localhost:${ORCHESTRATOR_PORT}`,
  `127.0.0.1:${ORCHESTRATOR_PORT}`,
])
