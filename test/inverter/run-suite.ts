import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { readReport } from '../../src/checks/reports/read-report.js'
import type { TestFormat } from '../../src/checks/reports/report.js'
import { invertTests } from '../../src/inverter/invert-tests.js'
import { type FixtureSuite, isTurned, nameFixture, writeSuite } from './fixture.js'

/** How the tests of a suite are run. */
export interface Runner {
  readonly suite: FixtureSuite
  readonly argv: readonly string[]
  readonly format: TestFormat
  readonly files?: Readonly<Record<string, string>>
  /** A folder of installed packages. */
  readonly packages?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface Outcome {
  readonly status: string
  readonly message: string
}

const RUN_MS_MAX = 300_000

/** Runs a test file and gives the outcome of each fixture by its name. */
export function runFile(runner: Runner, text: string): ReadonlyMap<string, Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'inverter-'))
  try {
    for (const [path, content] of Object.entries({ ...runner.files, [runner.suite.path]: text })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    if (runner.packages !== undefined) symlinkSync(runner.packages, join(folder, 'node_modules'))
    const [program = '', ...args] = runner.argv
    const env = { ...process.env, CI: '1', FORCE_COLOR: '0', NODE_V8_COVERAGE: '', VITEST: '', ...runner.env }
    const ran = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8', timeout: RUN_MS_MAX })
    const { format } = runner
    const streams = { stdout: ran.stdout ?? '', stderr: ran.stderr ?? '' }
    const reading = readReport({ format, ...streams, reportText: null, exitCode: ran.status ?? 128, root: folder })
    if (reading.result === 'unreadable')
      throw new Error(`${reading.reason}\n${ran.error}\n${streams.stdout}\n${streams.stderr}`)
    expect(reading.report.loadFailures).toEqual([])
    const named = reading.report.tests.map(
      ({ id, status, message }) => [/case_\d+/.exec(id)?.[0] ?? id, { status, message: message ?? '' }] as const,
    )
    return new Map(named)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function statuses(outcomes: ReadonlyMap<string, Outcome>): Readonly<Record<string, string>> {
  return Object.fromEntries([...outcomes].map(([name, { status }]) => [name, status]))
}

/** The honest suite passes, its unturned twin too, and of the turned one every test that asserts fails. */
export async function expectTwinsToHold(runner: Runner, seed: string): Promise<void> {
  const { suite } = runner
  const text = writeSuite(suite)
  const inversion = await invertTests({ path: suite.path, text, seed })
  if (inversion.outcome !== 'rewritten') throw new Error(inversion.reason)
  const all = Object.fromEntries(suite.fixtures.map((_, index) => [nameFixture(index), 'passed']))
  expect(statuses(runFile(runner, text))).toEqual(all)
  if (inversion.unturned !== text) expect(statuses(runFile(runner, inversion.unturned))).toEqual(all)
  const turned = runFile(runner, inversion.turned)
  const expected = suite.fixtures.map((fixture, index) => [nameFixture(index), isTurned(fixture) ? 'failed' : 'passed'])
  expect(statuses(turned)).toEqual(Object.fromEntries(expected))
}

/** With broken code under test, the unturned twin has the verdicts of the original, passed and failed. */
export async function expectSameVerdicts(runner: Runner, breakCode: (text: string) => string): Promise<void> {
  const text = breakCode(writeSuite(runner.suite))
  const inversion = await invertTests({ path: runner.suite.path, text, seed: 'broken' })
  if (inversion.outcome !== 'rewritten') throw new Error(inversion.reason)
  const original = statuses(runFile(runner, text))
  expect(new Set(Object.values(original))).toEqual(new Set(['passed', 'failed']))
  expect(statuses(runFile(runner, inversion.unturned))).toEqual(original)
}
