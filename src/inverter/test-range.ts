/** Where a test lies in its file, and what it is called. */
export interface TestRange {
  readonly name: string
  readonly line: number
  readonly start: number
  readonly end: number
}

/** The innermost test around a place. */
export function testAround(tests: readonly TestRange[], start: number, end: number): TestRange | null {
  return tests.findLast((test) => test.start <= start && end <= test.end) ?? null
}
