import type { Files } from '../e2e/projects.js'

/** A small repository in the shape of real ones, and an honest change of it. */
export interface Sample {
  readonly name: string
  readonly files: Files
  /** What a person does after cloning it: packages, environments. Gives the reason where that is not possible here. */
  readonly install?: (dir: string) => string | null
  /** What the person's shell has set. */
  readonly environment?: Readonly<Record<string, string>>
  /** The reader that the trial of `init` must name. */
  readonly format: string
  /** How many of its tests pass. */
  readonly passed: number
  /** The honest change: new tests for TDD, and the code for IMPL. */
  readonly tests: Files
  readonly code: Files
  /** Tests from before the task: one that fails, one that is skipped and one that flickers. */
  readonly old: Files
}

/** Seconds of one walk. */
export interface Times {
  readonly name: string
  /** The plain command on the changed tree, with warm caches. */
  readonly plain: number
  readonly trial: number
  readonly runTests: number
  readonly red: number
  readonly green: number
}

const COLUMNS = ['repository', 'plain', 'trial', 'run_tests', 'RED', 'GREEN']

/** The table of the times, in seconds. */
export function formatTimes(rows: readonly Times[]): string {
  const lines = rows.map((row) => [
    row.name,
    ...[row.plain, row.trial, row.runTests, row.red, row.green].map((seconds) => seconds.toFixed(1)),
  ])
  const table = [COLUMNS, ...lines]
  const widths = COLUMNS.map((_, at) => Math.max(...table.map((line) => line[at]?.length ?? 0)))
  return table
    .map((line) => line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))))
    .map((line) => `${line.join('  ')}\n`)
    .join('')
}
