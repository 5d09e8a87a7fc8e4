import { makeUnreadable, type ReportReading } from '../report.js'
import {
  type GoPackage,
  keepOutput,
  makeGoPackage,
  parseGoNote,
  reportGoPackages,
  settleGoTest,
} from './go-packages.js'

const PACKAGE_LINE = /^(ok {2}|FAIL|\? {3})\t(\S{1,400})(.{0,2000})$/

export function isGoText(lines: readonly string[]): boolean {
  return lines.some((line) => PACKAGE_LINE.test(line))
}

/** Why the output of `go test` without options cannot be used. */
export const GO_UNCOUNTED = 'without -json or -v, go test does not count the tests that passed'

/** Reads the output of `go test -v`. Without `-v`, passed tests are not even counted. */
export function readGoText(lines: readonly string[], stderr: readonly string[], root: string | null): ReportReading {
  const packages: GoPackage[] = []
  let current = makeGoPackage('')
  let running = ''
  for (const line of lines) {
    const started = /^=== RUN {3}(\S.*)$/.exec(line)?.[1]?.trimEnd()
    const result = /^ {0,200}--- (PASS|FAIL|SKIP): (\S.*) \(\d{1,9}\.\d{1,9}s\)\s*$/.exec(line)
    const end = PACKAGE_LINE.exec(line)
    if (started !== undefined) settleGoTest(current, started, 'run')
    else if (result !== null) {
      const test = result[2] ?? ''
      // A result without a start line was printed by something else.
      if (!current.tests.has(test) && result[1] !== 'FAIL')
        return makeUnreadable(`there is a result of ${JSON.stringify(test.slice(0, 80))}, which never began`)
      settleGoTest(current, test, (result[1] ?? '').toLowerCase())
    } else if (end !== null) {
      const verdict = end[1] === 'FAIL' ? 'failed' : end[1] === 'ok  ' ? 'ok' : 'none'
      packages.push({ ...current, name: end[2] ?? '', verdict, note: parseGoNote(line) ?? '' })
      current = makeGoPackage('')
    } else {
      keepMessage(current, running, line)
      keepOutput(current, line)
    }
    running = started ?? (result === null && end === null ? running : '')
  }
  if (current.tests.size > 0) packages.push(current)
  if (packages.some(isUncounted)) return makeUnreadable(GO_UNCOUNTED)
  return reportGoPackages(packages, [...lines, ...stderr], root)
}

// Messages of a test are indented below its start line and begin with file and line.
function keepMessage(one: GoPackage, test: string, line: string): void {
  const state = one.tests.get(test)
  if (state?.message === null && /^\s+\S{1,200}\.go:\d{1,9}: /.test(line)) state.message = line.trim()
}

// A package that ran has the start line of at least one test, or a note that it has none.
function isUncounted(one: GoPackage): boolean {
  return one.note === '' && one.verdict !== 'none' && !one.hasBegun
}
