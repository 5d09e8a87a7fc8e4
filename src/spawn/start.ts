import type { Confinement } from '../confinement/confinement.js'
import type { AgentEntry, Spawn } from '../core/contract/agent-programs.js'
import type { JsonObject } from '../core/json.js'
import type { TreeAtStart } from '../participants/agent-cli/command-at-start.js'
import type { AgentLog } from './agent-log.js'

/** What it takes to start an agent once. */
export interface Start {
  readonly spawn: Spawn
  readonly entry: AgentEntry | null
  readonly token: string
  readonly prompt: string
  /** What the agent may know of the contract. */
  readonly contract: JsonObject
  readonly tree: string
  /** Relative to the tree. */
  readonly hidden: readonly string[]
  /** For a reviewer: the tree that files named by its command come from. Null for an agent that works on the task. */
  readonly atStart: TreeAtStart | null
  readonly wall: Confinement
  readonly log: AgentLog
}
