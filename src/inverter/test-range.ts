/** Where a test lies in its file, and what it is called. */
export interface TestRange {
  readonly name: string
  readonly line: number
  readonly start: number
  readonly end: number
  /** The block of its function, where that has one. */
  readonly body?: { readonly start: number; readonly end: number }
}
