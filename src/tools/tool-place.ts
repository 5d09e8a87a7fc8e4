import type { Aside } from '../confinement/confinement.js'
import type { Code } from '../core/codes.js'
import type { JsonObject } from '../core/json.js'
import type { Change } from '../tree/change.js'
import type { TreeRefusal } from '../tree/problems.js'
import type { TreeStep } from '../tree/write/tree-steps.js'
import { openTreeWriter } from '../tree/write/tree-writer.js'

/** Where a tool works, and what it must not show. */
export interface ToolPlace {
  /** Absolute, resolved path of the task's work tree. */
  readonly root: string
  /** What earlier commands of the task wrote to ignored paths; null when there is nothing. */
  readonly layer?: string | null
  /** What happens to changes of a command that never reach the tree. */
  readonly aside?: Aside
  /** Makes changes of the tree; the tools of agents write no other way. */
  readonly write?: (steps: readonly TreeStep[]) => Promise<PlacedChanges | TreeRefusal>
  /** True for paths that agents may not read: the contract, the state directory, documents of later phases. */
  readonly isHidden: (path: string) => boolean
  /** Fires when the call must end: its time is up, the task left the phase, the server stops. */
  readonly signal: AbortSignal
}

type PlacedChanges = { readonly ok: true; readonly changes: readonly Change[] }

/** Every step or none: as the place says, or in its tree. */
export function writeSteps(place: ToolPlace, steps: readonly TreeStep[]): Promise<PlacedChanges | TreeRefusal> {
  return place.write?.(steps) ?? openTreeWriter(place.root).commit(steps, place.signal)
}

/** The result of a tool, or why it failed. A failing tool is a normal answer, never an exception. */
export type ToolOutcome =
  | { readonly ok: true; readonly result: JsonObject; readonly changes: readonly Change[] }
  | { readonly ok: false; readonly code: Code; readonly detail: string; readonly extra?: JsonObject }

export function failTool(detail: string, code: Code = 'tool_failed', extra?: JsonObject): ToolOutcome {
  return extra === undefined ? { ok: false, code, detail } : { ok: false, code, detail, extra }
}
