import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isSource } from '../../checks/test-files/test-files.js'
import { findProgram } from '../../confinement/probes.js'
import { isInside } from '../../confinement/view/toolchains.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import { plainLine } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import type { Trial } from './trial.js'

const NAMED_MAX = 5
const LAST_LINES_SHOWN = 12

/** The result of a trial as text. `error`: gates that need the tests would stay closed. */
export interface TrialVerdict {
  readonly status: 'ok' | 'warning' | 'error'
  /** One line: what was seen. */
  readonly saw: string
  /** What to do next; empty where there is nothing to do. */
  readonly remedies: readonly string[]
  readonly lastLines: readonly string[]
}

/** How the user can choose another command, or install packages. */
interface TrialAdvice {
  /** The folder that the command ran in. */
  readonly tree: string
  /** `--tests COMMAND` for `init`, the field of the contract for `doctor`. */
  readonly change: string
  readonly longer: string
  /** How to run a part of a suite that is too long. */
  readonly part: string
  readonly mayWrite: string
  /** How to let the tests send SIGUSR1. */
  readonly allowSignal: string
  /** How the packages of this project are installed. */
  readonly install: string
}

/** Judges the trial of the test command. */
export function judgeTests(trial: Trial, advice: TrialAdvice): TrialVerdict {
  const { run, wroteTests, wroteOthers } = trial
  const seconds = `ran ${(run.durationMs / 1000).toFixed(1)} s`
  const { counts, problem, trouble } = run
  if (wroteTests.length > 0)
    return {
      status: 'error',
      saw: `${seconds}; wrote ${formatPaths(wroteTests)}: a run that writes tests or test setup does not count`,
      remedies: [
        'Let the tests write to the temporary directory or to an ignored path.',
        ...(wroteTests.some(isSource) ? [] : [`Data that they have to write can be allowed: ${advice.mayWrite}.`]),
      ],
      lastLines: [],
    }
  if (counts === null || problem !== null || trouble !== undefined) return judgeUnread(trial, seconds, advice)
  const { passed, failed, skipped } = counts
  const named = run.isComplete ? 'ids complete' : 'ids not complete'
  const saw = `${seconds}; read ${passed} passed, ${failed} failed, ${skipped} skipped as ${run.format ?? 'unknown'}; ${named}`
  const unloaded = run.loadFailures
  if (unloaded.length > 0 && passed + failed + skipped === 0)
    return {
      status: 'error',
      saw: `${saw}; ${formatCount(unloaded.length, 'test file')} did not load (${plainLine(unloaded[0]?.message ?? '')})`,
      remedies: [findLoadRemedy(unloaded[0]?.kind ?? 'other', advice)],
      lastLines: [],
    }
  const remedies = [
    ...(passed + failed + skipped > 0
      ? []
      : ['There are no tests yet: the first task writes the first one. Check that the command finds it.']),
    ...(failed === 0
      ? []
      : [`Failing already: ${formatFailing(run)}. Tasks are not held up by tests that failed before them.`]),
    ...(unloaded.length === 0
      ? []
      : [
          `${formatCount(unloaded.length, 'test file')} did not load: ${plainLine(unloaded[0]?.file ?? unloaded[0]?.message ?? '')}.`,
        ]),
    ...(run.isComplete
      ? []
      : [
          'Tests are counted but not all named: a criterion cannot be matched to its test. Let the command write a report (docs/test-reports.md).',
        ]),
    ...(wroteOthers.length === 0
      ? []
      : [
          `The tests write tracked files: ${formatPaths(wroteOthers)}. In observed runs these writes are discarded; ${advice.mayWrite} declares them.`,
        ]),
  ]
  return { status: remedies.length === 0 ? 'ok' : 'warning', saw, remedies, lastLines: [] }
}

/** Judges a command by its exit code alone. */
export function judgeExitCode({ run }: Trial): TrialVerdict {
  const seconds = `ran ${(run.durationMs / 1000).toFixed(1)} s`
  const isFine = run.exitCode === 0 && !run.wasStopped
  return {
    status: isFine ? 'ok' : 'warning',
    saw: `${seconds}; ${run.wasStopped ? (run.problem ?? 'stopped') : `exit code ${run.exitCode}`}`,
    remedies: [],
    lastLines: isFine ? [] : (run.trouble?.lastLines.slice(-LAST_LINES_SHOWN) ?? []),
  }
}

function judgeUnread({ run, quiet }: Trial, seconds: string, advice: TrialAdvice): TrialVerdict {
  const { trouble, problem, exitCode } = run
  const cause = trouble === undefined ? (problem ?? 'no results') : `${trouble.cause}: ${trouble.detail}`
  const signal = trouble?.refusedSignal
  const why = signal === undefined || trouble?.detail === signal ? cause : `${cause}. ${signal}`
  const ending = run.wasStopped ? (quiet === '' ? '' : `stopped (${quiet}); `) : `exit code ${exitCode}; `
  return {
    status: 'error',
    saw: plainLine(`${seconds}; ${ending}the results cannot be read: ${why}`),
    remedies: [
      ...(signal === undefined ? [] : [explainAllowing(advice)]),
      ...(signal === undefined || trouble?.cause === 'timed out' ? [explainRemedy(run, advice)] : []),
    ],
    lastLines: (trouble?.lastLines ?? []).slice(-LAST_LINES_SHOWN),
  }
}

function explainAllowing({ allowSignal }: TrialAdvice): string {
  return `Runs that Phaselock observes may not send SIGUSR1, because it opens the debugger of Node.js in other programs (docs/security.md#sigusr1-in-observed-runs). If the tests need it, ${allowSignal}.`
}

function explainRemedy({ trouble, command }: ObservedRun, advice: TrialAdvice): string {
  const { change, longer, part, install } = advice
  const { cause = '', detail = '', remedy = '' } = trouble ?? {}
  if (/rustup could not choose/.test(detail))
    return 'cargo: no default toolchain is visible in the sandbox: run `rustup default stable` as the user who starts the server, then try again.'
  switch (cause) {
    case 'command not found': {
      const program = /(?:^|: )([\w./@+-]+): (?:command )?not found/.exec(detail)?.[1] ?? command.split(' ')[0] ?? ''
      const target = findOutsideTarget(advice.tree, program)
      if (target !== null)
        return `${program} leads to ${target}, which is not visible in the sandbox: make the environment again with an interpreter below /usr or of a version manager (docs/tools.md), or ${change}.`
      const installed = findProgram(program)
      return installed === null
        ? `${program} is not installed here. Install it (packages of the project: ${install}), or ${change}.`
        : `${program} is installed at ${plainLine(installed)}, which commands in the sandbox do not see: install it below /usr/local or with a version manager (docs/tools.md#inside-a-command), or ${change}.`
    }
    case 'module missing':
      return `Install the packages of the project first: ${install}. Commands have no network.`
    case 'connection refused':
      return `${remedy} Then try again.`
    case 'no network':
      return `Tests run without network. Fetch beforehand what they need (${install}), or ${change} that does not need it.`
    case 'timed out':
      return `If the suite is only long, ${longer}, or ${part}: gates run this command several times for each task. If it hangs, run \`${command}\` yourself to find the test. If it ends there, it hangs only in the sandbox: docs/troubleshooting.md#tests-that-hang-only-in-the-sandbox lists the causes.`
    case 'compile failed':
      return 'Correct the error that the last lines show.'
    case 'no counts could be read from the output':
      if (remedy.startsWith('Add -json')) return remedy
      return `If the last lines show an error, correct it. Otherwise ${change} of a supported runner (docs/test-reports.md), or have the command write a JUnit XML file and name it in commands.tests.report.`
    default:
      return remedy === '' ? `See the last lines, or ${change}.` : remedy
  }
}

// A virtual environment links to the interpreter that it was made with.
function findOutsideTarget(tree: string, program: string): string | null {
  if (!program.includes('/') || !existsSync(join(tree, program))) return null
  const target = realpathSync(join(tree, program))
  return isInside(realpathSync(tree), target) ? null : plainLine(target)
}

function findLoadRemedy(kind: string, { install }: TrialAdvice): string {
  return kind === 'missing_module'
    ? `Install the packages of the project first: ${install}. Commands have no network.`
    : 'Correct the error, then try again.'
}

function formatFailing({ tests, counts }: ObservedRun): string {
  const ids = tests.filter(({ status }) => status === 'failed').map(({ id }) => plainLine(id))
  return ids.length === 0 ? formatCount(counts?.failed ?? 0, 'test') : formatPaths(ids)
}

function formatPaths(paths: readonly string[]): string {
  const more = paths.length > NAMED_MAX ? ` and ${paths.length - NAMED_MAX} more` : ''
  return `${paths.slice(0, NAMED_MAX).map(plainLine).join(', ')}${more}`
}
