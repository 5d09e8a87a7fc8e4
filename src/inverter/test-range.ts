/** The range of a test in its file, and its name. */
export interface TestRange {
  readonly name: string
  readonly line: number
  readonly start: number
  readonly end: number
  /** Where its decorators begin, if it has any. */
  readonly decoratedFrom?: number
  /** The block of its function, if it has one. */
  readonly body?: { readonly start: number; readonly end: number }
}
