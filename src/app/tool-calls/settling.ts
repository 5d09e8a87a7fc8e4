import type { ChangeSet } from '../../confinement/confinement.js'
import type { HookRecord } from '../../core/contract/git-rules.js'
import type { GitAccess } from '../../core/task/fact-parts.js'
import type { ToolOutcome } from '../../tools/tool-place.js'
import type { Change } from '../../tree/change.js'
import type { TreeChange } from '../trees/tree-changes.js'

/** What a command left behind, before it is decided on. */
export interface Settling {
  readonly outcome: ToolOutcome
  readonly changes: ChangeSet
  readonly git: GitAccess
  readonly exitCode?: number
  readonly unenforced: readonly string[]
  readonly hooks?: HookRecord
  /** Whether the next command of the task sees what this one wrote to ignored paths. */
  readonly keepsScratch?: boolean
  readonly notes?: readonly (string | null)[]
  /** How many writes of file tools there were in the tree when the command started. */
  readonly before?: number
}

/** What is recorded with the outcome of a tool. */
export interface Finish {
  readonly isHolding?: boolean
  readonly changed?: readonly Change[]
  readonly git?: GitAccess
  readonly exitCode?: number
  readonly unenforced?: readonly string[]
  readonly failing?: string
  readonly hooks?: HookRecord
  readonly isWritten?: true
  /** The change of the tree that its event records. */
  readonly change?: TreeChange
  /** Makes that change once it is decided that it is kept; absent: it is made already. */
  readonly take?: (change: TreeChange) => Promise<void>
  readonly addedBytes?: number
}

/** The commit that git_commit made. */
export function findCommit(tool: string, outcome: ToolOutcome): { readonly commit?: string } {
  if (tool !== 'git_commit' || !outcome.ok || typeof outcome.result.commit !== 'string') return {}
  return { commit: outcome.result.commit }
}
