import type { RunTrouble } from '../../core/evidence/observed-run.js'
import { parseCauseLine } from './causes.js'

export type ExplainedTrouble = Omit<RunTrouble, 'lastLines'>

const NOT_FOUND: readonly RegExp[] = [
  /^(?:\S{1,400}\/)?(?:ba|da|z|k|a)?sh: (?:(?:line )?\d{1,9}: )?\S{1,400}: (?:command )?not found$/,
  /^\S{1,400}: (?:line )?\d{1,9}: \S{1,400}: (?:command )?not found$/,
  /^(?:zsh|fish|bundler|sudo)(?::\d{0,9})?: (?:\S{1,400}: )?command not found(?:: \S{1,400})?$/,
  /^(?:\S{1,400}\/)?(?:env|make(?:\[\d{1,3}\])?|xargs|nice|exec|timeout: failed to run command|nohup: failed to run command):? \S{1,400}: No such file or directory$/,
  /^make(?:\[\d{1,3}\])?: \S{1,400}: (?:Command not found|No such file or directory)$/,
  /^(?:npm (?:ERR!|error) |Error: )?spawn \S{1,400} ENOENT$/,
  /^error: (?:no such command: |rustup could not choose a version|toolchain \S{1,200} is not installed)/,
  /^(?:ERROR: |Error: |The )?JAVA_HOME (?:environment variable )?is (?:not set|set to an invalid directory|not defined correctly)/,
  /^Could not open input file: \S{1,400}$/,
]
// Packages that a package manager has not installed.
const MISSING_PACKAGE: readonly RegExp[] = [
  /^(?:\S{1,400}: )?No module named '?([\w.-]{1,400})'?$/,
  /^(?:Could not find gem|Could not find) '?([\w.-]{1,200})\S{0,200}'? in (?:locally installed gems|any of the sources|rubygems|cached gems)/,
  /^error(?:\[E0463\])?: can't find crate for `([^`]{1,200})`/,
  /^\S{1,400}\.go:\d{1,9}:\d{1,9}: (?:no required module provides package|cannot find module providing package) ([^\s;:]{1,400})/,
  /^error: no matching package named `([^`]{1,200})` found/,
]
const OUT_OF_MEMORY: readonly RegExp[] = [
  /^FATAL ERROR: .{0,200}(?:heap out of memory|Allocation failed)/,
  /^(?:Exception in thread .{1,200} |Caused by: |\[ERROR\] )?java\.lang\.OutOfMemoryError\b/,
  /^(?:E {3,10})?MemoryError\b/,
  /^fatal error: (?:runtime: )?(?:out of memory|cannot allocate memory)/,
  /^memory allocation of \d{1,20} bytes failed/,
  /^(?:PHP )?Fatal error: {1,4}Allowed memory size of \d{1,20} bytes exhausted/,
  /^(?:\[FATAL\] failed to allocate memory|\S{0,400}: ?failed to allocate memory \(NoMemoryError\))/,
  /\b(?:fork|clone|mmap|pthread_create)\b.{0,80}: (?:Cannot allocate memory|Resource temporarily unavailable)$/,
]
const REFUSED = /\bECONNREFUSED\b|\b[Cc]onnection refused\b/
const NO_NETWORK =
  /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|Could not resolve host|Temporary failure in name resolution|Name or service not known|No address associated with hostname|Network is unreachable|No route to host|UnknownHostException|dial tcp|module lookup disabled by GOPROXY=off|in offline mode|for offline mode|--offline was specified|retry without `--offline|No matching distribution found)/i
const COMPILE_ERRORS: readonly RegExp[] = [
  /\berror TS\d{3,6}: /,
  /^error(?:\[E\d{4}\])?: (?:could not compile|aborting due to)/,
  /\[(?:build|setup) failed\]/,
  /^[^\s:][^:]{0,400}:\d{1,9}(?::\d{1,9})?: (?:fatal )?error\b/,
  /^[^\s:][^:]{0,400}\.go:\d{1,9}:\d{1,9}: /,
  /^(?:\[ERROR\] )?(?:COMPILATION ERROR\b|Compilation failed\b|.{0,200}\bCompilation failure\b)/,
  /^> Compilation failed; see the compiler (?:error output|output) /,
  /^\S{1,400}\.rb:\d{1,9}: syntax error\b/,
  /^(?:PHP )?(?:Parse|Fatal) error: {1,4}(?:Uncaught ParseError|syntax error)/,
  /\berror (?:CS|MSB|FS|BC)\d{4}: /,
]
// What common linters and formatters print last, and the name of the script of package.json that was begun last.
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

/** The cause that these lines name, or null. Causes that prevent everything else from starting are checked first. */
export function findRunCause(all: readonly string[], exitCode: number): ExplainedTrouble | null {
  const lines = all.filter((line) => !isAssertion(line))
  const notFound = findMatch(lines, NOT_FOUND)
  if (notFound !== undefined || exitCode === 127)
    return explainNotFound(notFound ?? lines.findLast((line) => line.trim() !== '') ?? '')
  const refused = lines.find((line) => REFUSED.test(line))
  const network = lines.find((line) => NO_NETWORK.test(line))
  // Resolvers ask a name server on this machine: what is refused there is a name that was not found.
  if (refused !== undefined && network === undefined) return explainRefused(refused)
  if (network !== undefined) return explainNoNetwork(network)
  const causes = lines.flatMap((line) => parseCauseLine(line) ?? [])
  const module = causes.find(({ kind }) => kind === 'missing_module') ?? findMissingPackage(lines)
  if (module !== undefined) return explainMissingModule(module.module ?? '', module.message)
  const compiler = causes.find(({ kind }) => kind === 'syntax')?.message ?? findMatch(lines, COMPILE_ERRORS)
  if (compiler !== undefined) return explainCompileFailed(compiler)
  const linter = findLinterLine(lines)
  return linter === undefined ? null : explainLinterFailed(linter)
}

export function findOutOfMemory(lines: readonly string[]): ExplainedTrouble | null {
  const detail = findMatch(
    lines.filter((line) => !isAssertion(line)),
    OUT_OF_MEMORY,
  )
  if (detail === undefined) return null
  const remedy =
    'Find what needs so much memory and make it need less. If the tests need more than the sandbox gives, an operator raises the limit.'
  return { cause: 'out of memory', detail, mendedBy: 'agent', remedy }
}

function findMatch(lines: readonly string[], patterns: readonly RegExp[]): string | undefined {
  return lines.find((line) => patterns.some((pattern) => pattern.test(line)))
}

// Tests may print these words too: in a comparison, in quotes, or in a diff.
const COMPARED: readonly RegExp[] = [
  /\b(?:AssertionError|AssertionFailedError|ExpectationFailed\w{0,40}|ComparisonFailure)\b/,
  /(?:\b(?:[Ee]xpected|[Rr]eceived|[Aa]ctual|got|want|assert\w{0,40}|to (?:equal|be|match|include|throw))|^\s{0,20}(?:left|right):)(?=[\s:]).{0,400}["'`“‘<]/,
  /^\s{0,20}(?:E\s{1,20})?[+-](?: |["'])/,
  /^\s{0,20}[|>│]\s.{0,400}["'`“‘]/u,
]

function isAssertion(line: string): boolean {
  return COMPARED.some((pattern) => pattern.test(line))
}

function findMissingPackage(lines: readonly string[]): { module: string; message: string } | undefined {
  for (const line of lines)
    for (const pattern of MISSING_PACKAGE) {
      const module = pattern.exec(line)?.[1]
      if (module !== undefined) return { module, message: line }
    }
  return undefined
}

function findLinterLine(lines: readonly string[]): string | undefined {
  const said = lines.findLast((line) => LINTER.some((pattern) => pattern.test(line)))
  const begun = lines.filter((line) => line.startsWith('> ')).at(-2)
  const [, script = ''] = SCRIPT_BEGUN.exec(begun ?? '') ?? []
  return said ?? (LINT_SCRIPT.test(script) ? begun : undefined)
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
      ? 'Write the module, or correct the import. In a phase that writes tests only, load it inside each test (`const { add } = await import("./add.js")`): then the runner reports that test as failed.'
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

/** For a command whose service did not answer, or that tried to reach one without permission. */
export function explainRefused(detail: string): ExplainedTrouble {
  return {
    cause: 'connection refused',
    detail,
    mendedBy: 'operator',
    remedy:
      'Nothing listens there in the sandbox. An operator starts the service, and names it in the contract if it is not named there: commands.tests: {run: …, services: {postgres: "127.0.0.1:5432"}}. Otherwise the tests start it themselves.',
  }
}

function explainCompileFailed(detail: string): ExplainedTrouble {
  return { cause: 'compile failed', detail, mendedBy: 'agent', remedy: 'Correct the error that the last lines show.' }
}

function explainLinterFailed(detail: string): ExplainedTrouble {
  const remedy = 'Correct what the last lines show, then ask again. The tests were not reached.'
  return { cause: 'a linter failed', detail, mendedBy: 'agent', remedy }
}
