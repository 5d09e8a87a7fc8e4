import type { Contract } from '../core/contract/contract.js'
import {
  type Baseline,
  type ObservedRun,
  type PinnedRun,
  type RunTrouble,
  toTroubleView,
} from '../core/evidence/observed-run.js'
import type { Json, JsonObject } from '../core/json.js'
import type { CheckOutcome } from '../core/task/command.js'
import type { Grade } from '../core/task/fact-parts.js'
import type { WorkTree } from '../tree/work-tree.js'
import type { ExamplesSeen } from './examples/example.js'
import type { GitFacts } from './git-facts.js'
import type { ReadTree } from './test-setup/scope.js'

/** What a check may look at. */
export interface CheckInputs {
  readonly contract: Contract
  /** Artifacts of this visit by type. */
  readonly ofVisit: ReadonlyMap<string, Json>
  /** The newest of each type, of this visit or of the phases before. */
  readonly all: ReadonlyMap<string, Json>
  readonly evidence: JsonObject
  readonly task: JsonObject
  readonly tree: WorkTree
  readonly pinnedTests: ReadonlyMap<string, string> | null
  /** Tests inside of sources that are not as RED recorded them, in words. */
  readonly movedInline?: () => Promise<readonly string[]>
  /** What Phaselock ran itself, by the name of the command. */
  readonly observed: ReadonlyMap<string, ObservedRun>
  /** What git says of the tree; null when nobody asked it. */
  readonly git: GitFacts | null
  /** The same as expressions see it. */
  readonly observedView: JsonObject
  /** The tests of the observed RED run; null: none was observed. */
  readonly pinnedRun: PinnedRun | null
  /** What the tests said of the tree that work began with; null: that is not known, and the older rules hold. */
  readonly baseline?: Baseline | null
  /** Why there is none. */
  readonly noBaseline?: string | null
  /** What changed in this visit of the phase; null when nobody asked. */
  readonly changes?: PhaseChanges | null
  /** What a file held when the visit began: '' where there was no such file, null where that is not known. */
  readonly contentAtStart?: (path: string) => Promise<string | null>
  /** The work tree as it was when work on the task began; null when nobody asked. */
  readonly start?: StartOfWork | null
  /** Reports of reviewers in this visit; null where the phase asks for none, and the agent's own word counts. */
  readonly reviews?: readonly ReviewSeen[] | null
  /** What was seen of the examples of the plan and of the held-out ones; absent while they were not run. */
  readonly examples?: ExamplesSeen
  /** The task has held-out examples. */
  readonly hasHeldOut?: boolean
  readonly params: JsonObject
}

export interface StartOfWork {
  readonly tree: ReadTree
  /** Whether a file may differ from then: phases that name it changed it, or an operator accepted it. */
  readonly isPermitted: (path: string) => Promise<boolean>
}

/** One path that is not as it was when the visit began. */
export interface PhaseChange {
  readonly path: string
  readonly change: 'created' | 'modified' | 'deleted'
}

export interface PhaseChanges {
  readonly list: readonly PhaseChange[]
  /** False where a call changed more than the ledger lists. */
  readonly isComplete: boolean
}

/** What a report of a reviewer counts as. */
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

/** For a check that runs only once nothing else blocks. */
export function postponed(found: string, grade: Grade = 'reported'): CheckOutcome {
  return { result: 'fails', found, grade, isPostponed: true }
}

export function abortCheck(found: string, grade: Grade = 'reported'): CheckOutcome {
  return { result: 'error', found, grade }
}

export function asObject(value: Json | undefined): JsonObject | null {
  return value !== undefined && value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as JsonObject)
    : null
}

/** The own property of that name: an artifact called `constructor` must not find one in the prototype. */
export function getField(object: JsonObject | null, name: string): Json | undefined {
  return object !== null && Object.hasOwn(object, name) ? object[name] : undefined
}

export function asList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

export function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
