import type { RunTrouble } from '../../core/evidence/observed-run.js'
import { parseCauseLine } from './causes.js'
import { GO_UNCOUNTED } from './go.js'
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
}

type ExplainedTrouble = Omit<RunTrouble, 'lastLines'>

/**
 * Why a run cannot be used, who can fix that, and its last output. The code under test writes what is read here: it
 * helps to find the fault, and decides nothing.
 */
export function explainRun(run: TroubledRun, otherwise: ExplainedTrouble): RunTrouble {
  const explained = explainStopped(run) ?? explainSignal(run) ?? findCause(run) ?? otherwise
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
  if (stopped === 'output') return explainKilled('it wrote too much output', 'Make it write less.')
  return stopped === 'aborted' ? explainKilled('it was ended before it was done', 'Ask again.') : null
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

const NOT_FOUND: readonly RegExp[] = [
  /: (?:line )?\d{1,9}: \S{1,400}: (?:command )?not found$/,
  /: command not found(?:: \S{1,400})?$/,
  /^(?:\S{1,400}\/)?(?:env|make(?:\[\d{1,3}\])?): \S{1,400}: No such file or directory$/,
  /\bspawn \S{1,400} ENOENT\b/,
  /\brustup could not choose a version\b/,
]
const NO_NETWORK =
  /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|Could not resolve host|Temporary failure in name resolution|Name or service not known|Network is unreachable|No route to host|dial tcp)\b/i
const REFUSED = /\bECONNREFUSED\b|\bConnection refused\b|\bConnectionRefusedError\b/i
const COMPILE_ERRORS: readonly RegExp[] = [
  /\berror TS\d{3,6}: /,
  /^error(?:\[E\d{4}\])?: (?:could not compile|aborting due to)/,
  /\[(?:build|setup) failed\]/,
  /^[^\s:][^:]{0,400}:\d{1,9}(?::\d{1,9})?: (?:fatal )?error\b/,
  /^[^\s:][^:]{0,400}\.go:\d{1,9}:\d{1,9}: /,
  /\bCOMPILATION ERROR\b|\bCompilation failed\b/,
]

// The last lines that common linters and formatters print, and the name of the package.json script that was started
// last.
const LINTER: readonly RegExp[] = [
  /^✖ \d{1,9} problems? \(/u,
  /\bCode style issues (?:were )?found\b/,
  /^Found \d{1,9} (?:errors?|diagnostics?)\b/,
  /\bwould (?:be reformatted|reformat)\b/,
  /^[^\s:][^:]{0,400}\.py:\d{1,9}:\d{1,9}: [A-Z]{1,4}\d{3,4}\b/,
  /^Diff in \S{1,400}(?: at line |:)\d{1,9}/,
  /\bfiles? inspected, \d{1,9} offenses? detected\b/,
  /^In \S{1,400} line \d{1,9}:$/,
]
// npm prints two lines: the package, if it has a version, and the script; then the command.
const SCRIPT_BEGUN = /^> (?:\S{1,200}@\S{1,100} )?(\S{1,100})(?: \/\S{0,400})?$/
const LINT_SCRIPT = /(?:^|[:_-])(?:lint|format|fmt|style|prettier)(?:$|[:_-])/

function linterLine(lines: readonly string[]): string | undefined {
  const said = lines.findLast((line) => LINTER.some((pattern) => pattern.test(line)))
  const begun = lines.filter((line) => line.startsWith('> ')).at(-2)
  const [, script = ''] = SCRIPT_BEGUN.exec(begun ?? '') ?? []
  return said ?? (LINT_SCRIPT.test(script) ? begun : undefined)
}

function linterFailed(detail: string): ExplainedTrouble {
  const remedy = 'Correct what the last lines show, then ask again. The tests were not reached.'
  return { cause: 'a linter failed', detail, mendedBy: 'agent', remedy }
}

/** The cause named in the output. Causes that keep everything else from starting come first. */
function findCause({ exitCode, stdout, stderr }: TroubledRun): ExplainedTrouble | null {
  if (exitCode === 0) return null
  const lines = [stderr, stdout].flatMap((text) =>
    normalizeOutput(text.slice(-END_CHARS_MAX)).lines.slice(-LINES_LOOKED_AT_MAX),
  )
  const missing = lines.find((line) => NOT_FOUND.some((pattern) => pattern.test(line)))
  if (missing !== undefined || exitCode === 127) return explainNotFound(missing ?? lines.findLast(isWritten) ?? '')
  const causes = lines.flatMap((line) => parseCauseLine(line) ?? [])
  const module = causes.find(({ kind }) => kind === 'missing_module')
  if (module !== undefined) return explainMissingModule(module.module ?? '', module.message)
  const refused = lines.find((line) => REFUSED.test(line))
  if (refused !== undefined) return explainRefused(refused)
  const network = lines.find((line) => NO_NETWORK.test(line))
  if (network !== undefined) return explainNoNetwork(network)
  const syntax = causes.find(({ kind }) => kind === 'syntax')?.message
  const compiler = syntax ?? lines.find((line) => COMPILE_ERRORS.some((pattern) => pattern.test(line)))
  if (compiler !== undefined) return compileFailed(compiler)
  const linter = linterLine(lines)
  return linter === undefined ? null : linterFailed(linter)
}

function explainNotFound(detail: string): ExplainedTrouble {
  return {
    cause: 'command not found',
    detail,
    mendedBy: 'operator',
    remedy: 'An operator installs the program, or corrects the command in the contract.',
  }
}

function explainMissingModule(module: string, detail: string): ExplainedTrouble {
  const isFile = /^[./]/.test(module)
  return {
    cause: 'module missing',
    detail,
    mendedBy: isFile ? 'agent' : 'operator',
    remedy: isFile
      ? 'Write the module, or correct the import.'
      : 'If it is a module of the project, write it. If it is a package, an operator installs it: commands have no network.',
  }
}

function explainNoNetwork(detail: string): ExplainedTrouble {
  return {
    cause: 'no network',
    detail,
    mendedBy: 'operator',
    remedy: 'Commands have no network. An operator installs what is fetched, or takes it out of the command.',
  }
}

/** Of a command whose service did not answer, or that the contract does not let reach one. */
export function explainRefused(detail: string): ExplainedTrouble {
  return {
    cause: 'connection refused',
    detail,
    mendedBy: 'operator',
    remedy:
      'An operator starts the service, and names it in the contract if it is not named there: commands.tests: {run: …, services: {postgres: "127.0.0.1:5432"}}.',
  }
}

function compileFailed(detail: string): ExplainedTrouble {
  return { cause: 'compile failed', detail, mendedBy: 'agent', remedy: 'Correct the error that the last lines show.' }
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
