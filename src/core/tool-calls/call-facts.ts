/** What a tool call would access, found by parsing its arguments. */
export interface CallFacts {
  /** Each names the wrong argument and the reason; empty when the arguments are valid. */
  readonly argProblems: readonly string[]
  readonly paths: readonly CallPath[]
  readonly commands: readonly CallCommand[]
  /** Why the shell line could not be parsed; null when it could. */
  readonly shellProblem: string | null
}

/** One simple command of a shell line. */
export interface CallCommand {
  /** A word that is only known at run time is null. */
  readonly words: readonly (string | null)[]
  /**
   * It only starts another command, which is listed too (`env`, `bash -c`, `xargs`): checked against the forbidden ones
   * only.
   */
  readonly isWrapper: boolean
}

export interface CallPath {
  /** Normalised, relative to the work tree. */
  readonly path: string
  /** Why the path is always refused, whatever the contract says; null when it stays inside the tree. */
  readonly problem: string | null
}
