export type * from './answers.js'
export { AgentClient, type AgentClientOptions } from './client.js'
export type { Verdict } from './coordination.js'
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
