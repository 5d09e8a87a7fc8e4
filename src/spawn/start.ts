import type { Confinement } from '../confinement/confinement.js'
import type { AgentEntry, Spawn } from '../core/contract/agent-programs.js'
import type { JsonObject } from '../core/json.js'
import type { TreeAtStart } from '../participants/agent-cli/command-at-start.js'
import type { AgentLog } from './agent-log.js'

/** Everything needed to start an agent once. */
export interface Start {
  readonly spawn: Spawn
  readonly entry: AgentEntry | null
  readonly token: string
  readonly prompt: string
  /** The parts of the contract that the agent may know. */
  readonly contract: JsonObject
  readonly tree: string
  /** Relative to the tree. */
  readonly hidden: readonly string[]
  /** For a reviewer: the tree of the files that its command names. Null for an agent that works on the task. */
  readonly atStart: TreeAtStart | null
  readonly sandbox: Confinement
  readonly log: AgentLog
}
