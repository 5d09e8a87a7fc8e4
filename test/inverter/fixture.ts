import type { LeftReason, RuleName } from '../../src/inverter/types.js'

/**
 * One assertion: its code, what it is called, and how it is turned or why it is left alone. Each is tested twice: what the
 * inverter says of it, and what becomes of it in a real run. `null` in place of the name: a test without any assertion.
 */
export type Fixture =
  | readonly [code: string, assertion: string, rule: RuleName | { readonly left: LeftReason }]
  | readonly [code: string, assertion: null]

/** A suite of fixtures for one runner. The code of each fixture is wrapped by `wrap` and follows the preamble. */
export interface FixtureSuite {
  readonly name: string
  /** The library that the inverter names. */
  readonly library: string
  readonly path: string
  readonly preamble: string
  readonly end?: string
  readonly fixtures: readonly Fixture[]
  wrap(code: string, name: string): string
}

/** Names that are words of every language: `case_7`. */
export function nameFixture(index: number): string {
  return `case_${index}`
}

export function writeSuite(suite: FixtureSuite, fixtures: readonly Fixture[] = suite.fixtures): string {
  const tests = fixtures.map(([code], index) => suite.wrap(code, nameFixture(index)))
  return [suite.preamble, ...tests, suite.end ?? ''].join('\n')
}

/** Whether the test of this fixture has to fail in the turned twin. */
export function isTurned([, assertion, rule]: Fixture): boolean {
  return assertion !== null && typeof rule === 'string'
}
