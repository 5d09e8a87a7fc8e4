import { findCause } from './causes.js'
import { parseJavaErrors, parseTypescriptErrors } from './compile-errors.js'
import type { LoadFailure, RunnerFormat } from './report.js'

const TEXT_LINES_MAX = 60

/** Messages of runners that stop before the first test, without a summary. */
export function launchFailure(
  lines: readonly string[],
): { readonly runner: RunnerFormat | null; readonly failures: readonly LoadFailure[] } | null {
  for (const [index, line] of lines.entries()) {
    const text = lines.slice(index, index + TEXT_LINES_MAX)
    if (line.startsWith(MOCHA))
      return {
        runner: 'mocha',
        failures: [{ file: findFile(text), ...findCause([line.slice(MOCHA.length), ...text.slice(1)], 'first') }],
      }
    const php = PHP_FATAL.exec(line)
    if (php !== null)
      return { runner: 'phpunit', failures: [{ file: php[2] ?? null, ...findCause([php[1] ?? ''], 'first') }] }
    const file = CONFTEST.exec(line)?.[1]
    if (file !== undefined) return { runner: 'pytest', failures: [{ file, ...findCause(text.slice(1), 'last') }] }
  }
  // A compiler that comes before the runner: which one would have followed is not known.
  const failures = [...parseTypescriptErrors(lines), ...parseJavaErrors(lines)]
  return failures.length === 0 ? null : { runner: null, failures }
}

const MOCHA = ' Exception during run: '
const CONFTEST = /^ImportError while loading conftest '([^']{1,400})'\.$/

const PHP_FATAL = /^PHP (?:Fatal|Parse) error: {1,4}(.{1,2000}?) in (\S{1,400}\.php)(?::| on line )\d{1,9}$/

/** The test file that was being loaded: the importer, the last of the require stack, or the first own stack frame. */
function findFile(text: readonly string[]): string | null {
  const head = text[0] ?? ''
  const named = / imported from (\S{1,400})/.exec(head)?.[1] ?? /\[ @(\S{1,400}) \]/.exec(head)?.[1]
  if (named !== undefined) return named
  const stack = text.flatMap((line) => /^- (\S{1,400})$/.exec(line)?.[1] ?? [])
  if (stack.length > 0) return stack.at(-1) ?? null
  const frame = text.find((line) => line.startsWith('    at ') && !/node:internal|node_modules/.test(line))
  return /(?:file:\/\/|\()?(\/[^():\s]{1,400}):\d{1,9}:\d{1,9}\)?$/.exec(frame ?? '')?.[1] ?? null
}
