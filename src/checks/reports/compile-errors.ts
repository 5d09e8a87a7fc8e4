import type { LoadFailure } from './report.js'

const COMPILE_ERRORS_MAX = 1_000

const GO_MISSING: readonly RegExp[] = [
  /^undefined: (\S{1,200})/,
  /^(\S{1,200}) undefined \(/,
  /^.{1,1000} undefined \(type .{1,400} has no field or method (\w{1,200})/,
  /^no required module provides package ([^\s;]{1,400})/,
  /^package (\S{1,400}) is not in (?:std|GOROOT)/,
  /^cannot find (?:package|module providing package) "?([^\s";:]{1,400})/,
  /^could not import (\S{1,400})/,
  /^unknown field (\S{1,200}) in struct literal/,
]

/**
 * Messages of the Go compiler below `# package`. A package with `setup` was not even parsed: an error there that names
 * nothing missing is a syntax error.
 */
export function goCompileErrors(lines: readonly string[], setup: ReadonlySet<string>): readonly LoadFailure[] {
  const failures: LoadFailure[] = []
  let current = ''
  for (const line of lines) {
    if (failures.length >= COMPILE_ERRORS_MAX) break
    if (line.startsWith('# ')) current = line.slice(2).split(' ')[0] ?? ''
    const match = /^(?:vet: )?([^\s:][^:]{0,400}\.go):\d{1,9}(?::\d{1,9})?: (.{1,2000})$/.exec(line)
    if (match === null) continue
    const message = match[2] ?? ''
    // It names the place of the first error that is not listed.
    if (message === 'too many errors') continue
    const module = GO_MISSING.map((pattern) => pattern.exec(message)?.[1]).find((name) => name !== undefined)
    const isSyntax = message.startsWith('syntax error') || setup.has(current)
    failures.push({
      file: match[1] ?? null,
      kind: module !== undefined ? 'missing_module' : isSyntax ? 'syntax' : 'other',
      module: module ?? null,
      message,
    })
  }
  return failures
}

// Missing names, types, traits, methods, fields, modules and crates.
const RUST_MISSING = new Set(
  'E0405 E0407 E0412 E0422 E0425 E0426 E0432 E0433 E0437 E0438 E0463 E0531 E0560 E0574 E0576 E0583 E0599 E0609'.split(
    ' ',
  ),
)
const RUST_SYNTAX = /\b(?:expected|unexpected|unclosed|unterminated|mismatched closing|unknown start|prefix)\b/

/** Messages of rustc: `error[E0432]: unresolved import`, and below it `--> file:line:column`. */
export function parseRustErrors(lines: readonly string[]): readonly LoadFailure[] {
  const failures: LoadFailure[] = []
  for (const [index, line] of lines.entries()) {
    if (failures.length >= COMPILE_ERRORS_MAX) break
    const match = /^error(?:\[(E\d{4})\])?: (.{1,2000})$/.exec(line)
    const file = /^ {0,12}--> (.{1,400}?):\d{1,9}:\d{1,9}$/.exec(lines[index + 1] ?? '')?.[1]
    // Cargo's own summary of the errors above has no place.
    if (match === null || file === undefined) continue
    const [, code, message = ''] = match
    const isMissing = code === undefined ? message.startsWith('cannot find ') : RUST_MISSING.has(code)
    const isSyntax = code === undefined && !isMissing && RUST_SYNTAX.test(message)
    failures.push({
      file,
      kind: isMissing ? 'missing_module' : isSyntax ? 'syntax' : 'other',
      module: isMissing ? (/`([^`]{1,400})`/.exec(message)?.[1] ?? null) : null,
      message,
    })
  }
  return failures
}

// A missing module, export, name or property.
const TS_MISSING = new Set('TS2304 TS2305 TS2307 TS2339 TS2551 TS2552 TS2614 TS2724 TS2792'.split(' '))

/**
 * Messages of tsc before the tests run: `file(line,column): error TS2307: …`, or with colours `file:line:column -
 * error`. The files it names are sources; tests that run later are named after the build output, so no test is named.
 */
export function parseTypescriptErrors(lines: readonly string[]): readonly LoadFailure[] {
  const failures: LoadFailure[] = []
  for (const line of lines) {
    if (failures.length >= COMPILE_ERRORS_MAX) break
    const match =
      /^[^\s(][^(]{0,400}\.[cm]?tsx?(?:\(\d{1,9},\d{1,9}\):|:\d{1,9}:\d{1,9} -) error (TS\d{3,6}): (.{1,2000})$/.exec(
        line,
      )
    if (match === null) continue
    const [, code = '', message = ''] = match
    const isMissing = TS_MISSING.has(code)
    failures.push({
      file: null,
      kind: isMissing ? 'missing_module' : /^TS1\d{3}$/.test(code) ? 'syntax' : 'other',
      module: isMissing ? (/'"?([^'"]{1,400})"?'/.exec(message)?.[1] ?? null) : null,
      message: line,
    })
  }
  return failures
}

const JAVA_PLACE =
  /^(?:\[ERROR\] |e: )?(?:file:\/\/)?(\/[^:[]{1,400}\.(?:java|kt|groovy|scala)):(?:\[?\d{1,9}(?:[,:]\d{1,9}\]?)?:?) (?:error: )?(.{1,2000})$/
const JAVA_SYNTAX = /\bexpected\b|^reached end of file|^illegal start of|^unclosed |^Expecting /
const SYMBOL_LINES_MAX = 6

/**
 * Messages of javac, alone or through Maven or Gradle: `CalcTest.java:[5,43] cannot find symbol`, and the symbol below
 * it.
 */
export function parseJavaErrors(lines: readonly string[]): readonly LoadFailure[] {
  const failures: LoadFailure[] = []
  for (const [index, line] of lines.entries()) {
    if (failures.length >= COMPILE_ERRORS_MAX) break
    const match = JAVA_PLACE.exec(line)
    if (match === null) continue
    const [, file = '', message = ''] = match
    const below = lines.slice(index + 1, index + 1 + SYMBOL_LINES_MAX)
    const symbol = below.flatMap(
      (one) => /^(?:\[ERROR\])?\s{1,20}symbol:\s{1,10}(?:\w{1,20} )?(\w{1,200})/.exec(one)?.[1] ?? [],
    )[0]
    const named = /^package (\S{1,400}) does not exist|^[Uu]nresolved reference:? '?(\w{1,200})/.exec(message)
    const module = named?.[1] ?? named?.[2] ?? (message.startsWith('cannot find symbol') ? (symbol ?? '') : null)
    const kind = module !== null ? 'missing_module' : JAVA_SYNTAX.test(message) ? 'syntax' : 'other'
    failures.push({ file, kind, module, message: symbol === undefined ? message : `${message}: ${symbol}` })
  }
  return failures
}
