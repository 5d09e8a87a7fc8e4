import type { Contract } from '../core/contract/contract.js'
import {
  type Baseline,
  type ObservedRun,
  type PinnedRun,
  type RunTrouble,
  toTroubleView,
} from '../core/evidence/observed-run.js'
import { isObject, type Json, type JsonObject } from '../core/json.js'
import type { CheckOutcome } from '../core/task/command.js'
import type { Grade } from '../core/task/fact-parts.js'
import type { WorkTree } from '../tree/work-tree.js'
import type { ExamplesSeen } from './examples/example.js'
import type { GitFacts } from './git-facts.js'
import type { ReadTree } from './test-setup/scope.js'

/** The inputs of a check. */
export interface CheckInputs {
  readonly contract: Contract
  /** Artifacts of this visit by type. */
  readonly ofVisit: ReadonlyMap<string, Json>
  /** The newest artifact of each type, from this visit or an earlier phase. */
  readonly all: ReadonlyMap<string, Json>
  readonly evidence: JsonObject
  readonly task: JsonObject
  readonly tree: WorkTree
  readonly pinnedTests: ReadonlyMap<string, string> | null
  /** The content of a file at RED; null if unknown. */
  readonly readPinned?: (path: string, hash: string) => string | null
  /** Descriptions of tests inside source files that changed since RED. */
  readonly movedInline?: () => Promise<readonly string[]>
  /** Observed runs, by the name of the command. */
  readonly observed: ReadonlyMap<string, ObservedRun>
  /** What git reports about the tree; null if it was not run. */
  readonly git: GitFacts | null
  /** Observed runs in the form that expressions read. */
  readonly observedView: JsonObject
  /** The tests of the observed RED run; null: none was observed. */
  readonly pinnedRun: PinnedRun | null
  /** Test results of the tree that work began with; null if unknown, then the older rules apply. */
  readonly baseline?: Baseline | null
  /** Why there is no baseline. */
  readonly noBaseline?: string | null
  /** Whether agents may not see a path: its content must not be revealed. */
  readonly isHidden?: (path: string) => boolean
  /** Changes of this visit; null if no check needs them. */
  readonly changes?: PhaseChanges | null
  /** The content of a file when the visit began: '' if it did not exist, null if unknown. */
  readonly contentAtStart?: (path: string) => Promise<string | null>
  /** The work tree as it was when work on the task began; null if no check needs it. */
  readonly start?: StartOfWork | null
  /** Reports of reviewers in this visit; null if the phase asks for none, then the agent's own report counts. */
  readonly reviews?: readonly ReviewSeen[] | null
  /** Results of the plan's examples and of the held-out ones; absent until they are run. */
  readonly examples?: ExamplesSeen
  /** The task has held-out examples. */
  readonly hasHeldOut?: boolean
  readonly params: JsonObject
}

export interface StartOfWork {
  readonly tree: ReadTree
  /** Whether a file may differ from the start: a phase that names it changed it, or an operator accepted it. */
  readonly isPermitted: (path: string) => Promise<boolean>
}

/** One path that changed since the visit began. */
export interface PhaseChange {
  readonly path: string
  readonly change: 'created' | 'modified' | 'deleted'
}

export interface PhaseChanges {
  readonly list: readonly PhaseChange[]
  /** False if a call changed more paths than the ledger lists. */
  readonly isComplete: boolean
}

/** How a reviewer's report counts. */
export interface ReviewSeen {
  readonly name: string
  readonly status: string
}

export type Check = (inputs: CheckInputs) => CheckOutcome | Promise<CheckOutcome>

export function passCheck(found: string, grade: Grade = 'reported', notes: readonly string[] = []): CheckOutcome {
  return { result: 'holds', found, grade, ...(notes.length === 0 ? {} : { notes }) }
}

export function failCheck(found: string, grade: Grade = 'reported', trouble?: RunTrouble): CheckOutcome {
  const failed = { result: 'fails', found, grade } as const
  return trouble === undefined ? failed : { ...failed, run: toTroubleView(trouble) }
}

/** For a check that runs only when nothing else blocks. */
export function postponed(found: string, grade: Grade = 'reported'): CheckOutcome {
  return { result: 'fails', found, grade, isPostponed: true }
}

export function abortCheck(found: string, grade: Grade = 'reported'): CheckOutcome {
  return { result: 'error', found, grade }
}

export function asObject(value: Json | undefined): JsonObject | null {
  return isObject(value) ? value : null
}

/** Own properties only: an artifact called `constructor` must not find one in the prototype. */
export function getField(object: JsonObject | null, name: string): Json | undefined {
  return object !== null && Object.hasOwn(object, name) ? object[name] : undefined
}

export function asList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

export function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
