import type { Coordinations } from './councils/councils.js'
import type { OperatorAccess } from './identity/operator-access.js'
import type { Library } from './knowledge.js'
import type { Resources } from './resources.js'
import type { TaskRuns } from './status/task-runs.js'
import type { Baselines } from './test-runs/baselines.js'
import type { LongTools } from './tool-calls/long-tools.js'
import type { Transcripts } from './transcripts.js'
import type { LongGates } from './transitions/long-gates.js'

/** Shared state of all operations of the orchestrator. */
export interface App extends Resources {
  /** Transition requests whose gates take longer than a client waits. */
  readonly longGates: LongGates
  /** Tool calls that take longer than a client waits. */
  readonly longTools: LongTools
  /** Baseline test runs: results of the tests on the tree that each task started with. */
  readonly baselines: Baselines
  /** Token usage read from the transcripts of agent CLIs. */
  readonly transcripts: Transcripts
  /** Status of tasks, as `status.json` shows it. */
  readonly taskRuns: TaskRuns
  /** Indexes of the documents that contracts let agents search. */
  readonly library: Library
  /** Councils: several agents answering one question. */
  readonly coordinations: Coordinations
  /** How operators log in and confirm what they decide. */
  readonly operators: OperatorAccess
}

export { StoreUnavailable } from '../store/store.js'
export { TreeUnreadable } from '../tree/problems.js'
export { contextOf } from './resources.js'
