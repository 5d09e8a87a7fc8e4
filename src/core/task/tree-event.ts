/** A work tree of a task's own: made from a repository, on a branch of its own. */
export interface NewWorktree {
  /** Absolute path of the repository's own work tree. */
  readonly repository: string
  readonly branch: string
  /** The commit that it was made from. */
  readonly base: string
  /** The branch that was checked out there, which the work goes back to; null: none was. */
  readonly into: string | null
}

/** What becomes of work trees. */
export type TreeFact =
  /** When a claim was resumed, the tree had changes that no allowed call explains and that the phase does not permit. */
  | {
      readonly type: 'unledgered_change_found'
      readonly agentId: string
      readonly code: 'unledgered_change'
      readonly detail: string
      /** The first of them; `pathCount` says how many there are. */
      readonly paths: readonly string[]
      readonly pathCount: number
    }
  | {
      readonly type: 'tree_accepted' | 'tree_reverted'
      readonly paths: readonly string[]
      readonly pathCount: number
      readonly reason: string
    }
  | {
      readonly type: 'worktree_merged'
      /** What the branch was at. */
      readonly commit: string
      /** The branch that it was brought into, and what that is at now. */
      readonly into: string
      readonly result: string
      /** The task goes on in its tree. */
      readonly keepsTree: boolean
      readonly reason: string
    }
  | { readonly type: 'worktree_handed_over'; readonly commit: string; readonly reason: string }
  | { readonly type: 'worktree_discarded'; readonly reason: string }
