import { describe, expect, it } from 'vitest'
import { leaveOutGoTests, listAllGoErrors } from '../../src/checks/observed-runs/leave-out-go-tests.js'
import { GoEvents } from '../../src/checks/reports/languages/go-events.js'

const PACKAGE = 'example.org/carts'
type Event = readonly [action: string, test?: string | undefined, output?: string]

function eventsOf(...events: readonly Event[]): GoEvents {
  const read = new GoEvents()
  for (const [Action, Test, Output] of events)
    read.take(`${JSON.stringify({ Action, Package: PACKAGE, Test, Output })}\n`)
  return read
}
const passes = (name: string): readonly Event[] => [
  ['run', name],
  ['pass', name],
]
const panics = (name: string): readonly Event[] => [
  ['run', name],
  ['output', name, `--- FAIL: ${name} (0.00s)\n`],
  ['output', name, 'panic: runtime error: invalid memory address [recovered]\n'],
  ['fail', name],
]
const ENDS: readonly Event[] = [['output', undefined, `FAIL\t${PACKAGE}\t0.1s\n`], ['fail']]
const FINISHES: readonly Event[] = [['output', undefined, 'FAIL\n'], ...ENDS]

const statuses = (events: GoEvents): Record<string, string> => {
  const reading = events.read([], null)
  if (reading.result !== 'read') throw new Error(reading.result)
  return Object.fromEntries(reading.report.tests.map(({ id, status }) => [id.replace(`${PACKAGE} > `, ''), status]))
}

describe('test programs of Go that a test ended', () => {
  it.each([
    ['came to their end', [...panics('TestA'), ...FINISHES]],
    ['passed', [...passes('TestA'), ['output', undefined, 'PASS\n'], ['pass']]],
    ['ended outside of any test', [...passes('TestA'), ...ENDS]],
  ] as [string, readonly Event[]][])('[REQ-MATRIX-5] those that %s are not run again', (_, events) => {
    expect(eventsOf(...events).findEnded()).toBeNull()
  })

  it('[REQ-MATRIX-5] a test that says panic in its output and passes is not what ended the program', () => {
    const noisy: readonly Event[] = [
      ['run', 'TestNoisy'],
      ['output', 'TestNoisy', 'panic: expected\n'],
      ['pass', 'TestNoisy'],
    ]
    expect(eventsOf(...noisy, ['run', 'TestExits'], ...ENDS).findEnded()?.without).toEqual(['TestExits'])
  })

  it('[REQ-MATRIX-5] what failed stays failed, whatever the next run says about it', () => {
    const first = eventsOf(['run', 'TestWrong'], ['fail', 'TestWrong'], ...panics('TestB/part'), ...ENDS)
    expect(first.findEnded()).toEqual({ name: PACKAGE, without: ['TestB'] })
    const again = eventsOf(...passes('TestWrong'), ...passes('TestB/part'), ...passes('TestC'), ...FINISHES)
    expect(first.addContinued(PACKAGE, again)).toBe(true)
    expect(statuses(first)).toEqual({ TestWrong: 'failed', 'TestB/part': 'failed', TestC: 'passed' })
    expect(first.findEnded()).toBeNull()
  })

  it('[REQ-MATRIX-5] a test that passed and then fails has failed', () => {
    const first = eventsOf(...passes('TestA'), ...panics('TestB'), ...ENDS)
    first.findEnded()
    first.addContinued(PACKAGE, eventsOf(['run', 'TestA'], ['fail', 'TestA'], ...FINISHES))
    expect(statuses(first)).toEqual({ TestA: 'failed', TestB: 'failed' })
  })

  it('[REQ-MATRIX-5] a run without events of the package adds nothing', () => {
    const first = eventsOf(...panics('TestB'), ...ENDS)
    expect(first.addContinued(PACKAGE, eventsOf())).toBe(false)
    expect(statuses(first)).toEqual({ TestB: 'failed' })
  })

  it('[REQ-MATRIX-5] the next test that ends the program is left out too, and tests in parallel get their result', () => {
    const first = eventsOf(['run', 'TestWaits'], ...panics('TestB'), ...ENDS)
    expect(first.findEnded()?.without).toEqual(['TestB'])
    first.addContinued(PACKAGE, eventsOf(...passes('TestWaits'), ['run', 'TestExits'], ...ENDS))
    expect(first.findEnded()?.without).toEqual(['TestB', 'TestExits'])
    first.addContinued(PACKAGE, eventsOf(...passes('TestWaits'), ...passes('TestLast'), ['pass']))
    expect(first.findEnded()).toBeNull()
    expect(statuses(first)).toEqual({
      ...{ TestWaits: 'passed', TestB: 'failed', TestExits: 'failed', TestLast: 'passed' },
    })
  })

  it.each([
    'make test',
    'go test -json ./... | tee log',
    'cd sub && go test -json ./...',
    'go test -json -skip TestX ./...',
    'go test -C sub -json ./...',
    'go test -exec ./run -json ./...',
    'go vet ./...',
  ])('[REQ-MATRIX-5] %s is not run again', (line) => {
    expect(leaveOutGoTests(line, { name: PACKAGE, without: ['TestB'] })).toBeNull()
  })

  it('[REQ-MATRIX-5] names that a shell or a pattern would read otherwise are not written into a line', () => {
    expect(leaveOutGoTests('go test -json ./...', { name: "x'; id #", without: ['TestB'] })).toBeNull()
    expect(leaveOutGoTests('go test -json ./...', { name: PACKAGE, without: ["TestB'$(id)"] })).toBeNull()
  })

  it('[REQ-MATRIX-5] only the package is run, with the flags of the command', () => {
    expect(leaveOutGoTests('go test -json -tags big ./... ./sub', { name: PACKAGE, without: ['TestB', 'TestÄ'] })).toBe(
      `go test -skip '^(?:TestB|TestÄ)$' -json -tags big '${PACKAGE}'`,
    )
  })
})

describe('a package of Go with more errors than its compiler lists', () => {
  const uncompiled = (...lines: readonly string[]): GoEvents => {
    const read = new GoEvents()
    for (const Output of lines)
      read.take(`${JSON.stringify({ ImportPath: `${PACKAGE} [${PACKAGE}.test]`, Action: 'build-output', Output })}\n`)
    read.take(
      `${JSON.stringify({ Action: 'output', Package: PACKAGE, Output: `FAIL\t${PACKAGE} [build failed]\n` })}\n`,
    )
    read.take(`${JSON.stringify({ Action: 'fail', Package: PACKAGE })}\n`)
    return read
  }
  const missing = (file: string, line: number): string => `./${file}:${line}:2: undefined: Sum${line}\n`
  const failuresOf = (read: GoEvents) => {
    const reading = read.read([], null)
    if (reading.result !== 'read') throw new Error(reading.result)
    return reading.report.loadFailures.map(({ file, kind }) => `${file} ${kind}`)
  }

  it('[REQ-COMMITS-1] is found, and takes the list of a run that has all of them', () => {
    const first = uncompiled(`# ${PACKAGE}\n`, missing('a_test.go', 1), './b_test.go:3:2: too many errors\n')
    expect(first.findUncompiled('')).toEqual({ names: [PACKAGE], isCut: true })
    first.takeErrors(uncompiled(`# ${PACKAGE}\n`, missing('a_test.go', 1), missing('b_test.go', 3)))
    expect(failuresOf(first)).toEqual(['a_test.go missing_module', 'b_test.go missing_module'])
  })

  it('[REQ-COMMITS-1] is found in what older versions of Go print', () => {
    expect(uncompiled().findUncompiled(`# ${PACKAGE}\n./b_test.go:3:2: too many errors\n`).isCut).toBe(true)
    expect(uncompiled().findUncompiled('./b_test.go:3:2: undefined: TooMany\n').isCut).toBe(false)
  })

  it('[REQ-COMMITS-1] a place at which the list stops is no error of its own', () => {
    const read = uncompiled(`# ${PACKAGE}\n`, missing('a_test.go', 1), './b_test.go:3:2: too many errors\n')
    expect(failuresOf(read)).toEqual(['a_test.go missing_module'])
  })

  it.each([
    ['go test -json ./...', `go test -gcflags=-e -json '${PACKAGE}'`],
    ['go test -race -json ./a ./b', `go test -gcflags=-e -race -json '${PACKAGE}'`],
    ['go test -gcflags=-N -json ./...', null],
    ['go vet ./... && go test -json ./...', null],
    ['go test -exec ./wrap -json ./...', null],
  ])('[REQ-COMMITS-1] %s is run as %s', (line, expected) => {
    expect(listAllGoErrors(line, [PACKAGE])).toBe(expected)
  })

  it('[REQ-COMMITS-1] a name that a shell would read is not run', () => {
    expect(listAllGoErrors('go test -json ./...', [`${PACKAGE}' ; touch x`])).toBeNull()
    expect(listAllGoErrors('go test -json ./...', [])).toBeNull()
  })
})
