/** What a tool call would touch, found by parsing its arguments. */
export interface CallFacts {
  /** Each says which argument is wrong and why; empty when the arguments fit the tool. */
  readonly argProblems: readonly string[]
  readonly paths: readonly CallPath[]
  readonly commands: readonly CallCommand[]
  /** Why the shell line could not be read; null when it could. */
  readonly shellProblem: string | null
}

/** One simple command of a shell line. */
export interface CallCommand {
  /** A word that is only known at run time is null. */
  readonly words: readonly (string | null)[]
  /** It only starts another command, which is listed as well (`env`, `bash -c`, `xargs`): held against the forbidden ones alone. */
  readonly isWrapper: boolean
}

export interface CallPath {
  /** Normalised, relative to the work tree. */
  readonly path: string
  /** Why the path is refused whatever the contract says; null when it stays inside the tree. */
  readonly problem: string | null
}
