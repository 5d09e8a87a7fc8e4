import type { ChangeSet } from '../../confinement/confinement.js'
import type { JsonObject } from '../../core/json.js'
import type { ToolOutcome } from '../tool-place.js'
import type { Pins } from './pins.js'

export interface UpstreamCall {
  /** `server.tool`. */
  readonly tool: string
  readonly args: JsonObject
  /** The tool as the task accepted it. */
  readonly pins: Pins
}

export interface UpstreamResult {
  readonly outcome: ToolOutcome
  /**
   * Changes of the server within its `writable`; to be committed or discarded. Null when there is nothing to decide.
   */
  readonly changes: ChangeSet | null
}
