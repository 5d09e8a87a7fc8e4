import type { RunTrouble } from '../../core/evidence/observed-run.js'
import { GO_UNCOUNTED } from './languages/go.js'
import { type ExplainedTrouble, findOutOfMemory, findRunCause } from './run-causes.js'
import { normalizeOutput, splitLines, toOneLine } from './text.js'

const LINES_LOOKED_AT_MAX = 400
const LAST_LINES_MAX = 20
const LAST_LINE_CHARS_MAX = 200
const DETAIL_CHARS_MAX = 200
// More than the last lines can show, so that a secret that begins before them is still recognised as a whole.
const END_CHARS_MAX = 256 * 1024
const FIRST_SIGNAL_CODE = 128
const SIGNALS_MAX = 64

/** A run without results that a gate can use. */
export interface TroubledRun {
  readonly exitCode: number
  readonly stopped: 'timeout' | 'output' | 'aborted' | null
  readonly timeoutSeconds: number
  readonly stdout: string
  readonly stderr: string
  readonly redact: (text: string) => string
  /** The missing part of its results; absent if nothing is missing. */
  readonly cutOff?: string | undefined
}

/**
 * Why a run cannot be used, who can fix that, and its last output. The code under test writes what is read here: it
 * helps to find the fault, and decides nothing.
 */
export function explainRun(run: TroubledRun, otherwise: ExplainedTrouble): RunTrouble {
  const explained =
    explainStopped(run) ?? explainMemory(run) ?? explainSignal(run) ?? explainCutOff(run) ?? findCause(run) ?? otherwise
  const detail = toOneLine(run.redact(explained.detail), DETAIL_CHARS_MAX)
  return { ...explained, detail, lastLines: takeLastLines(run) }
}

const STEP_BEFORE = 'If a step before the tests failed, such as a linter, correct what the last lines show.'

export function explainNoCounts(detail: string): ExplainedTrouble {
  return {
    cause: 'no counts could be read from the output',
    detail,
    mendedBy: 'operator',
    remedy: detail.startsWith(GO_UNCOUNTED)
      ? 'Add -json to the command in the contract: commands.tests: {run: go test -json ./...}.'
      : `${STEP_BEFORE} Otherwise let the command write a report and name it in the contract: commands.tests: {run: …, report: report.xml, format: junit}.`,
  }
}

export function explainNoCoverage(detail: string): ExplainedTrouble {
  return {
    cause: 'no coverage could be read',
    detail,
    mendedBy: 'operator',
    remedy: 'Let the command write the report that commands.coverage names in the contract (report and format).',
  }
}

/** For results that contradict the exit code, or are incomplete. */
export function explainUnreliable(detail: string): ExplainedTrouble {
  return {
    cause: 'the results cannot be relied on',
    detail,
    mendedBy: 'agent',
    remedy: 'See in the last lines what else the command did besides the tests, and correct that.',
  }
}

export function explainCommandFailed(exitCode: number): ExplainedTrouble {
  return {
    cause: 'the command failed',
    detail: `exit code ${exitCode}`,
    mendedBy: 'agent',
    remedy: 'Correct what the last lines show, then ask again.',
  }
}

function explainStopped({ stopped, timeoutSeconds }: TroubledRun): ExplainedTrouble | null {
  if (stopped === 'timeout')
    return {
      cause: 'timed out',
      detail: `after ${timeoutSeconds} s`,
      mendedBy: 'agent',
      remedy: `Make the command finish within ${timeoutSeconds} s. If it needs longer, an operator raises timeout_seconds in the contract.`,
    }
  if (stopped === 'output') return makeCutOffTrouble('it wrote too much output and was stopped')
  return stopped === 'aborted' ? explainKilled('it was ended before it was done', 'Ask again.') : null
}

function explainCutOff({ cutOff }: TroubledRun): ExplainedTrouble | null {
  return cutOff === undefined ? null : makeCutOffTrouble(cutOff)
}

function makeCutOffTrouble(detail: string): ExplainedTrouble {
  const remedy =
    'Make the tests and the code print less, or find what ends the command while it writes. Otherwise an operator lets the command write a report and names it in the contract (report and format).'
  return { cause: 'cut off', detail, mendedBy: 'agent', remedy }
}

// Runtimes that run out of memory end themselves with a signal.
function explainMemory({ exitCode, stdout, stderr }: TroubledRun): ExplainedTrouble | null {
  const ends = [stderr, stdout].map((text) => normalizeOutput(text.slice(-END_CHARS_MAX)).lines)
  return exitCode === 0 ? null : findOutOfMemory(ends.flatMap((lines) => lines.slice(-LINES_LOOKED_AT_MAX)))
}

function explainSignal({ exitCode }: TroubledRun): ExplainedTrouble | null {
  const signal = exitCode - FIRST_SIGNAL_CODE
  if (signal < 1 || signal > SIGNALS_MAX) return null
  const why = signal === 9 ? ' Signal 9 often means that it used more memory than the sandbox gives.' : ''
  return explainKilled(`by signal ${signal}`, `Find out what ended it.${why}`)
}

function explainKilled(detail: string, remedy: string): ExplainedTrouble {
  return { cause: 'killed', detail, mendedBy: 'agent', remedy }
}

/** The cause that the output names. Causes that prevent everything else from starting are checked first. */
function findCause({ exitCode, stdout, stderr }: TroubledRun): ExplainedTrouble | null {
  if (exitCode === 0) return null
  const lines = [stderr, stdout].flatMap((text) =>
    normalizeOutput(text.slice(-END_CHARS_MAX)).lines.slice(-LINES_LOOKED_AT_MAX),
  )
  return findRunCause(lines, exitCode)
}

/** The end of both streams. If both have output, each gets half: errors often come before a long output. */
function takeLastLines({ stdout, stderr, redact }: TroubledRun): readonly string[] {
  const [out, err] = [endOf(stdout, redact), endOf(stderr, redact)]
  const errors = err.slice(-Math.max(LAST_LINES_MAX / 2, LAST_LINES_MAX - out.length))
  return [...out.slice(-(LAST_LINES_MAX - errors.length)), ...errors]
}

// Redacted as one text, before it is cut: half a secret would not be recognised.
function endOf(text: string, redact: (text: string) => string): readonly string[] {
  const end = redact(normalizeOutput(text.slice(-END_CHARS_MAX)).text)
  return splitLines(end)
    .filter(isWritten)
    .slice(-LAST_LINES_MAX)
    .map((line) => toOneLine(line, LAST_LINE_CHARS_MAX))
}

function isWritten(line: string): boolean {
  return line.trim() !== ''
}
