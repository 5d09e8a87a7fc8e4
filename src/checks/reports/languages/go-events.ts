import { StringDecoder } from 'node:string_decoder'
import { asFields, type Fields, getText, parseJson } from '../json.js'
import { LINE_CHARS_MAX, makeCutOff, makeUnreadable, type ReportReading } from '../report.js'
import {
  addContinued,
  type GoPackage,
  keepOutput,
  makeGoPackage,
  noteEnders,
  parseGoNote,
  reportGoPackages,
  settleGoTest,
} from './go-packages.js'

const COMPILER_LINES_MAX = 20_000
// More than is ever listed; bounds the memory that a program with made-up test names can use.
const TESTS_KEPT_MAX = 200_000
const KEPT_CHARS_MAX = 64 * 1024 * 1024
// A longer line is the output of a test: no result is this long.
const EVENT_CHARS_MAX = 1024 * 1024

/**
 * Reads the output of `go test -json` while it is written. Only one line of output per test is kept, so a report may
 * have any size.
 */
export class GoEvents {
  #seen = false
  #isMixed = false
  #isFull = false
  #tests = 0
  #chars = 0
  #rest = ''
  readonly #decoder = new StringDecoder('utf8')
  readonly #packages = new Map<string, GoPackage>()
  #compiler: string[] = []

  /** A piece of the output, in the order in which it was written. */
  take(chunk: Buffer | string): void {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    const lines = text.split('\n')
    lines[0] = this.#rest + (lines[0] ?? '')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#takeLine(line)
    // The end of an overlong line is not an event either, so the missing part is noticed.
    if (this.#rest.length > EVENT_CHARS_MAX) this.#rest = '…'
  }

  get hasSeenAny(): boolean {
    return this.#seen
  }

  /** A package whose test program a test has ended, and the tests to run it again without; null if there is none. */
  findEnded(): { readonly name: string; readonly without: readonly string[] } | null {
    const ended = this.#isMixed || this.#isFull ? undefined : [...this.#packages.values()].find(noteEnders)
    return ended === undefined ? null : { name: ended.name, without: [...ended.leftOut] }
  }

  /** Adds the results of running a package again. False: that run says nothing about it. */
  addContinued(name: string, again: GoEvents): boolean {
    const one = this.#packages.get(name)
    const next = again.#packages.get(name)
    if (one === undefined || next === undefined || next.tests.size === 0 || again.#isMixed || again.#isFull)
      return false
    addContinued(one, next)
    return true
  }

  /** Packages that did not compile, and whether the compiler stopped before it had listed all errors. */
  findUncompiled(stderr: string): { readonly names: readonly string[]; readonly isCut: boolean } {
    const names = [...this.#packages.values()].filter(({ note }) => note === 'build failed').map(({ name }) => name)
    return { names, isCut: [...this.#compiler, ...stderr.split('\n')].some((line) => TOO_MANY.test(line)) }
  }

  /** Takes the errors of compiling the same packages again, which lists all of them. */
  takeErrors(again: GoEvents): void {
    if (again.#compiler.length > 0) this.#compiler = again.#compiler
  }

  read(stderr: readonly string[], root: string | null): ReportReading {
    const last = this.#rest
    this.#rest = ''
    if (last !== '') this.#takeLine(last)
    // Among events, plain lines must not decide the result of a package.
    if (this.#isMixed) return makeUnreadable('the output mixes events of go test -json with plain lines')
    if (last.startsWith('{') && parseEvent(last) === null)
      return makeCutOff('the output of go test -json ends in the middle of a line')
    if (this.#isFull) return makeCutOff(`there are more than ${TESTS_KEPT_MAX} tests, or their names are too long`)
    return reportGoPackages([...this.#packages.values()], [...this.#compiler, ...stderr], root)
  }

  #takeLine(line: string): void {
    const event = parseEvent(line)
    if (event === null && /^(?:ok {2}|FAIL)\t/.test(line)) this.#isMixed = true
    this.#seen ||= event !== null
    const said = event === null ? line : getText(event, 'Action') === 'build-output' ? getText(event, 'Output') : null
    if (said === null) this.#add(event)
    else if (this.#compiler.length < COMPILER_LINES_MAX) this.#compiler.push(copyLine(said))
  }

  #add(event: Fields | null): void {
    const name = getText(event, 'Package')
    if (name === '') return
    const one = this.#packages.get(name) ?? makeGoPackage(name)
    const action = getText(event, 'Action')
    const test = getText(event, 'Test')
    const isNew = !this.#packages.has(name) || (test !== '' && !one.tests.has(test))
    this.#tests += isNew ? 1 : 0
    this.#chars += isNew ? name.length + test.length : 0
    this.#isFull ||= this.#tests > TESTS_KEPT_MAX || this.#chars > KEPT_CHARS_MAX
    if (this.#isFull) return
    this.#packages.set(name, one)
    if (action === 'output') recordOutput(one, test, getText(event, 'Output'))
    else if (test !== '') settleGoTest(one, test, action)
    else if (action === 'pass') one.verdict = 'ok'
    else if (action === 'fail') one.verdict = 'failed'
    else if (action === 'skip') one.verdict = 'none'
  }
}

/** Reads the output of `go test -json`. `text` must contain whole lines, not truncated ones. */
export function readGoJson(text: string, stderr: readonly string[], root: string | null): ReportReading {
  const events = new GoEvents()
  events.take(text)
  return events.read(stderr, root)
}

export function isGoJson(lines: readonly string[]): boolean {
  return lines.some((line) => parseEvent(line) !== null)
}

function parseEvent(line: string): Fields | null {
  if (!line.startsWith('{"') || !line.includes('"Action":"')) return null
  const event = asFields(parseJson(line))
  return getText(event, 'Package') !== '' || getText(event, 'ImportPath') !== '' ? event : null
}

const TOO_MANY = /(?:^|: )too many errors\s*$/
const ENDS_PROGRAM = /^(?:panic|fatal error): /

function recordOutput(one: GoPackage, test: string, line: string): void {
  const state = one.tests.get(test)
  if (state !== undefined && ENDS_PROGRAM.test(line)) one.panicked.add(test)
  if (test === '') {
    one.hasFinished ||= /^(?:FAIL|PASS)$/.test(line.trimEnd())
    one.note = parseGoNote(line.trimEnd()) ?? one.note
    keepOutput(one, copyLine(line))
  } else if (state?.message === null && line.trim() !== '' && !/^\s*(?:===|---) /.test(line))
    state.message = copyLine(line.trim())
}

// Copies the line: a slice would keep the whole string in memory.
function copyLine(line: string): string {
  return Buffer.from(line.slice(0, LINE_CHARS_MAX).trimEnd()).toString('utf8')
}
