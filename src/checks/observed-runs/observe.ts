import { sha256Hex } from '../../base/sha256.js'
import type { CommandRun } from '../../confinement/run-command.js'
import { isGlob } from '../../contract/patterns.js'
import type { ObservedCommand } from '../../core/contract/contract.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import type { WorkTree } from '../../tree/work-tree.js'
import { addRefusedSignal, findRefusedSignal } from '../refused-signal.js'
import { findDisagreement } from '../reports/agreement.js'
import { readCoverage } from '../reports/coverage.js'
import { readReport } from '../reports/read-report.js'
import { makeCutOff, type ReportReading, type TestFormat } from '../reports/report.js'
import { explainRefused } from '../reports/run-causes.js'
import {
  explainCommandFailed,
  explainNoCounts,
  explainNoCoverage,
  explainRun,
  explainUnreliable,
  type TroubledRun,
} from '../reports/run-trouble.js'
import { addToldTests } from '../reports/told-tests.js'
import { makeOutsideMatcher } from './outside-tree.js'
import type { ShownPlace } from './run-in-view.js'
import { runPastPanics } from './run-past-panics.js'
import type { SecondReport } from './second-report.js'
import { type OpenServices, openServices } from './services.js'
import { addFilter } from './test-filter.js'
import { GUARDS_VERSION } from './test-guards.js'

/**
 * Runs a command of the contract on a throw-away view of the tree and reads its report. The command cannot change the
 * tree, all its processes have ended before the report is read, and an earlier report is removed first.
 */
export async function observe(
  place: ShownPlace,
  name: string,
  command: ObservedCommand,
  more: { readonly treeHash: string; readonly extra?: string | undefined },
): Promise<ObservedRun> {
  const line = more.extra === undefined ? command.run : addFilter(command.run, more.extra).line
  const services = await openServices(command.services ?? {}, place.confinement.provider !== 'none')
  const started = await runPastPanics(place, { line, command, services })
  const { run } = started
  const about = {
    name,
    command: line,
    exitCode: run.exitCode,
    durationMs: run.durationMs,
    treeHash: more.treeHash,
    coverage: null,
    wasStopped: run.stopped !== null,
    ...(command.allowsSigusr1 === true ? { allowedSigusr1: true as const } : {}),
    ...(place.view === undefined ? {} : { leftOut: place.view.leftOut }),
    ...(typeof services === 'string' || command.services === undefined ? {} : { services: services.used() }),
  }
  const unreached = describeUnreached(services)
  if (unreached !== null) return { ...about, ...UNKNOWN, ...makeUnreachedResult(unreached, run, place.redact) }
  if (started.problem !== null)
    return { ...about, ...UNKNOWN, ...makeVoidResult(started.problem, WRITTEN_REMEDY, run.exitCode) }

  const troubled = { ...run, timeoutSeconds: command.timeoutSeconds, redact: place.redact }
  const mayLackSignal = run.exitCode !== 0 && command.allowsSigusr1 !== true && place.confinement.provider !== 'none'
  const signal = mayLackSignal ? await findRefusedSignal(place.tree, run) : null
  if (run.stopped !== null) {
    const stopped = STOPPED[run.stopped].replace('%s', String(command.timeoutSeconds))
    const trouble = explainRun(troubled, explainCommandFailed(run.exitCode))
    const named = signal === null ? trouble : addRefusedSignal(signal, trouble)
    return { ...about, ...UNKNOWN, problem: signal === null ? stopped : `${stopped}. ${signal}`, trouble: named }
  }
  const files = [...run.files].map(([path, bytes]) => ({ path, text: bytes.toString('utf8') }))
  const report = command.report === null ? null : files.map(({ text }) => text).join('\n')
  if (command.format === 'lcov' || command.format === 'cobertura') {
    const cutOff = report === null && run.truncated ? 'the output is too long and was cut' : undefined
    const text = cutOff === undefined ? (report ?? run.stdout) : ''
    const found = { ...UNKNOWN, ...parseCoverage(place.tree, command.format, text) }
    return { ...about, ...found, ...findTrouble(found, { ...troubled, cutOff }, 'coverage') }
  }
  const cut =
    run.isFilesCut === true ? makeCutOff('the command wrote more or larger report files than Phaselock reads') : null
  const reading =
    cut ??
    readReport({
      format: command.format as TestFormat,
      stdout: run.stdout,
      stderr: run.stderr,
      reportText: report,
      reportFiles: command.report !== null && isGlob(command.report) ? files : undefined,
      exitCode: run.exitCode,
      root: place.tree,
      outputCut: run.truncated,
      goEvents: started.goEvents,
      runner: findOnlyRunner(started.told),
    })
  const differs = reading.result === 'unreadable' ? null : findDisagreement(reading.report, run.exitCode, started.told)
  if (differs !== null) return { ...about, ...UNKNOWN, ...makeVoidResult(differs, FORGED_REMEDY, run.exitCode) }
  const found = read(reading, started.told)
  const wantsCounts = name === 'tests' || command.format !== 'auto' || report !== null
  const cutOff = reading.result === 'unreadable' && reading.isCut === true ? reading.reason : undefined
  const { trouble } = findTrouble(found, { ...troubled, cutOff }, wantsCounts ? 'counts' : 'exit code')
  const named =
    signal === null ? trouble : addRefusedSignal(signal, trouble ?? explainRun(troubled, explainCommandFailed(1)))
  return { ...about, ...found, ...(named === undefined ? {} : { trouble: named }) }
}

function findOnlyRunner(told: readonly SecondReport[]): string | undefined {
  const [only, ...others] = told
  return only?.hasEnded === true && others.length === 0 ? only.runner : undefined
}

function describeUnreached(services: OpenServices | string): string | null {
  if (typeof services === 'string') return services
  const refused = services.used().find((use) => use.refused > 0)
  return refused === undefined ? null : `the service ${refused.name} at ${refused.address} refused the connection`
}

function makeUnreachedResult(detail: string, run: CommandRun, redact: (text: string) => string) {
  const trouble = explainRun({ ...run, exitCode: 1, timeoutSeconds: 0, redact }, explainRefused(redact(detail)))
  return { exitCode: 1, problem: redact(detail), trouble: { ...trouble, ...explainRefused(redact(detail)) } }
}

const WRITTEN_REMEDY =
  'Find what writes these files when the command runs (a test, the code, a script or a plugin) and write to the temporary directory or to an ignored path instead.'
const FORGED_REMEDY =
  'Find what writes results to the output or the report beside the test runner, or ends the runner early (the code, a test, a reporter or a plugin of the project), remove it, and call run_tests.'

/** The same run with all results removed. */
export function voidRun(run: ObservedRun, problem: string): ObservedRun {
  return { ...run, ...UNKNOWN, ...makeVoidResult(problem, FORGED_REMEDY, run.exitCode) }
}

function makeVoidResult(problem: string, remedy: string, exitCode: number) {
  const trouble = { cause: 'the run is void', detail: problem, mendedBy: 'agent', remedy, lastLines: [] } as const
  return {
    exitCode: exitCode === 0 ? 1 : exitCode,
    problem: `the run is void: ${problem}`,
    isVoid: true,
    trouble,
  } as const
}

const UNKNOWN = { counts: null, tests: [], isComplete: false, loadFailures: [], problem: null } as const
const STOPPED = {
  timeout: 'the command timed out after %s s',
  output: 'the command wrote too much output and was stopped',
  aborted: 'the command was ended before it was done',
} as const

type Read = Pick<ObservedRun, 'counts' | 'tests' | 'isComplete' | 'format' | 'loadFailures' | 'problem'>

// Failing tests and files that do not load explain themselves; for other commands only the exit code counts.
function findTrouble(
  { counts, problem }: Pick<ObservedRun, 'counts' | 'problem'>,
  run: TroubledRun,
  wanted: 'counts' | 'coverage' | 'exit code',
): Pick<ObservedRun, 'trouble'> {
  const hasFailed = wanted !== 'counts' && run.exitCode !== 0
  if (hasFailed) return { trouble: explainRun(run, explainCommandFailed(run.exitCode)) }
  if (problem === null || wanted === 'exit code') return {}
  const otherwise = wanted === 'coverage' ? explainNoCoverage : counts === null ? explainNoCounts : explainUnreliable
  return { trouble: explainRun(run, otherwise(problem)) }
}

function read(reading: ReportReading, told: readonly SecondReport[]): Read {
  if (reading.result === 'unreadable') return { ...UNKNOWN, problem: reading.reason }
  const { passed, failed, skipped, tests, complete, format, loadFailures, truncated } = addToldTests(
    reading.report,
    told,
  )
  return {
    counts: { passed, failed, skipped },
    isComplete: complete,
    format,
    tests: tests.map(({ id, status, file, message }) => ({ id, status, file, message })),
    loadFailures: loadFailures.map(({ file, kind, module, message }) => ({ file, kind, module, message })),
    problem:
      reading.result === 'contradiction'
        ? reading.reason
        : truncated
          ? 'the report was too long to read completely'
          : null,
  }
}

function parseCoverage(
  tree: string,
  format: 'lcov' | 'cobertura',
  text: string,
): Pick<ObservedRun, 'coverage' | 'lines' | 'problem'> {
  const found = readCoverage({ format, text, isOutside: makeOutsideMatcher(tree) })
  return found === null
    ? { coverage: null, problem: `no ${format} report was written` }
    : { coverage: found.percent, lines: { found: found.linesFound, hit: found.linesHit }, problem: null }
}

/** Everything that a run depends on: the project, the installed packages, the command and its environment. */
export async function runKey(tree: WorkTree, treeHash: string, command: ObservedCommand): Promise<string> {
  const parts = [
    GUARDS_VERSION,
    treeHash,
    command.run,
    command.format,
    command.report,
    command.env,
    command.allowsSigusr1 === true,
    ...(command.services === undefined ? [] : [command.services]),
  ]
  const installed: (string | null)[] = []
  for (const path of INSTALLED) installed.push(await tree.hash(path).catch(() => null))
  return sha256Hex(JSON.stringify([...parts, installed]))
}

// The file that a package manager writes last shows what is installed.
const INSTALLED = [
  'node_modules/.package-lock.json',
  'node_modules/.yarn-state.yml',
  'node_modules/.modules.yaml',
  '.venv/pyvenv.cfg',
]
