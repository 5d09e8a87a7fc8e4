import type { Coordinations } from './councils/councils.js'
import type { Library } from './knowledge.js'
import type { Resources } from './resources.js'
import type { TaskRuns } from './status/task-runs.js'
import type { Baselines } from './test-runs/baselines.js'
import type { LongTools } from './tool-calls/long-tools.js'
import type { Transcripts } from './transcripts.js'
import type { LongGates } from './transitions/long-gates.js'

/** What every operation of the orchestrator works with. */
export interface App extends Resources {
  /** Requests whose gates take longer than a client waits. */
  readonly longGates: LongGates
  /** Calls of tools that take longer than a client waits. */
  readonly longTools: LongTools
  /** What tests said of the trees that tasks began with. */
  readonly baselines: Baselines
  /** Token usage that harnesses wrote down themselves. */
  readonly transcripts: Transcripts
  /** Tasks as runs. */
  readonly taskRuns: TaskRuns
  /** The documents that contracts let agents search. */
  readonly library: Library
  /** Several agents on one question. */
  readonly coordinations: Coordinations
}

export { StoreUnavailable } from '../store/store.js'
export { TreeUnreadable } from '../tree/problems.js'
export { contextOf } from './resources.js'
