import type { SecondReport, ToldTest } from '../observed-runs/second-report.js'
import { ID_CHARS_MAX, type RunnerFormat, type TestReport } from './report.js'

const TOLD_BY: Readonly<Record<RunnerFormat, readonly string[]>> = {
  ...{
    node: ['node'],
    vitest: ['vitest'],
    jest: ['jest'],
    mocha: ['mocha'],
    pytest: ['pytest'],
    unittest: ['unittest'],
  },
  ...{ tap: ['node', 'vitest', 'mocha'], junit: ['node', 'vitest', 'jest', 'mocha', 'pytest'], go: [], cargo: [] },
  ...{ rspec: [], phpunit: [], maven: [], trx: [] },
}

/**
 * How the report of a command differs from what its runners reported to Phaselock themselves; null when it does not.
 */
export function findDisagreement(report: TestReport, exitCode: number, told: readonly SecondReport[]): string | null {
  const own = told.filter(({ runner }) => TOLD_BY[report.format].includes(runner))
  if (own.length === 0) return null
  const tests = own.flatMap((one) => one.tests)
  const passed = tests.filter(({ status }) => status === 'passed')
  const failed = tests.filter(({ status }) => status === 'failed')
  const both = `the report says ${report.passed} passed and ${report.failed} failed, but ${own[0]?.runner} itself reported ${countWords(passed, failed)}`
  const hasEnded = own.every((one) => one.hasEnded)
  if (exitCode === 0 && !hasEnded) return `${both}, and did not finish`
  if (!hasEnded) return null
  const isClean = report.failed === 0 && report.loadFailures.length === 0
  if (isClean !== (failed.length === 0)) return isClean ? `${both}: ${failed[0]?.name}` : both
  if (!isClean) return null
  const passedMin = own.length === 1 ? passed.filter(({ isParent }) => !isParent).length : 0
  if (report.passed < passedMin || report.passed > passed.length) return both
  const unknown = own.some(({ runner }) => runner === 'unittest') ? null : findFirstUnknown(report, passed)
  return unknown === null
    ? null
    : `the report says that "${unknown}" passed, but ${own[0]?.runner} itself ran no such test`
}

function countWords(passed: readonly ToldTest[], failed: readonly ToldTest[]): string {
  const single = passed.filter(({ isParent }) => !isParent).length
  return `${single} passed and ${failed.length} failed`
}

/** The first test that the report lists as passed and that no runner reported under its name. */
function findFirstUnknown(report: TestReport, told: readonly ToldTest[]): string | null {
  const left = new Map<string, number>()
  for (const { name } of told) left.set(extractLetters(name), (left.get(extractLetters(name)) ?? 0) + 1)
  const lengths = [...new Set([...left.keys()].map(({ length }) => length))].sort((a, b) => b - a)
  for (const { id, status } of report.tests) {
    if (status !== 'passed' || id.length >= ID_CHARS_MAX) continue
    const letters = extractLetters(id.replace(/ #\d+$/, ''))
    const length = lengths.find(
      (one) => one <= letters.length && (left.get(letters.slice(letters.length - one)) ?? 0) > 0,
    )
    if (length === undefined) return id
    const name = letters.slice(letters.length - length)
    left.set(name, (left.get(name) ?? 0) - 1)
  }
  return null
}

// Reporters escape, cut and join names in their own ways.
function extractLetters(name: string): string {
  return name.normalize('NFC').replaceAll(/[^\p{L}\p{N}]/gu, '')
}
