export type * from './answers.js'
export { AgentClient, type AgentClientOptions } from './client.js'
export type { Verdict } from './coordination.js'
export type * from './diff-answers.js'
export type { Environment } from './environment.js'
export {
  ApiError,
  type Blocker,
  type Grade,
  InvalidOptions,
  NotClaimed,
  type PendingApproval,
  PhaselockError,
  type Retry,
  TokenRefused,
  ToolDenied,
  ToolFailed,
  TransitionBlocked,
  Unreachable,
  WaitTimeout,
} from './errors.js'
export type { TaskEvent } from './follow.js'
export type { Json, JsonObject } from './json.js'
export { OperatorClient, type OperatorClientOptions } from './operator.js'
export type * from './operator-answers.js'
export type * from './overview-answers.js'
export type * from './report-answers.js'
export { type Frame, framesOf } from './sse.js'
