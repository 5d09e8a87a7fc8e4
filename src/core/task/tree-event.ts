import type { Refused } from './fact-parts.js'

/** A task's own work tree: made from a repository, on a separate branch. */
export interface NewWorktree {
  /** Absolute path of the repository's own work tree. */
  readonly repository: string
  readonly branch: string
  /** The commit that it was made from. */
  readonly base: string
  /** The branch that was checked out there, into which the work is merged; null: none. */
  readonly into: string | null
}

/** Events of work trees. */
export type TreeFact =
  /**
   * When a claim was resumed, or after a call of an agent CLI, the tree had changes that no allowed call explains and
   * the phase does not permit.
   */
  | (Partial<Omit<Refused, 'code' | 'detail'>> & {
      readonly type: 'unledgered_change_found'
      readonly agentId: string
      readonly code: 'unledgered_change'
      readonly detail: string
      /** The first ones; `pathCount` has the total. */
      readonly paths: readonly string[]
      readonly pathCount: number
      /** What changed them, where that is known: then it is a refusal of the agent. */
      readonly by?: string
    })
  | {
      readonly type: 'tree_accepted' | 'tree_reverted'
      readonly paths: readonly string[]
      readonly pathCount: number
      readonly reason: string
    }
  | {
      readonly type: 'worktree_merged'
      /** The branch's commit. */
      readonly commit: string
      /** The branch it was merged into, and that branch's new commit. */
      readonly into: string
      readonly result: string
      /** The task continues in its tree. */
      readonly keepsTree: boolean
      readonly reason: string
    }
  | { readonly type: 'worktree_handed_over'; readonly commit: string; readonly reason: string }
  | { readonly type: 'worktree_discarded'; readonly reason: string }
