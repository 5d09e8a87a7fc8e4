import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OBSERVED_OUTPUT_BYTES_MAX } from '../../src/checks/observed-runs/run-in-view.js'
import { judgePassing } from '../../src/checks/red-green/green-run.js'
import type { ObservedRun } from '../../src/core/evidence/observed-run.js'
import { openStand, type Stand } from './second-run.js'

let stand: Stand

beforeAll(async () => {
  stand = await openStand()
})

afterAll(() => stand.close())

const TESTS = 9000
const MEBIBYTE = 1024 * 1024

// Prints what go test -json prints of 9,000 tests in 30 packages, each with a kilobyte of output: more than 10 MB.
const PRINT_GO = `
let text = ''
const add = (event) => { text += JSON.stringify({ Time: '2026-01-01T00:00:00Z', ...event }) + '\\n' }
for (let p = 0; p < 30; p++) {
  const Package = 'example.org/many/p' + p
  add({ Action: 'start', Package })
  for (let t = 0; t < ${TESTS / 30}; t++) {
    const Test = 'TestNumber' + t
    add({ Action: 'run', Package, Test })
    add({ Action: 'output', Package, Test, Output: '=== RUN   ' + Test + '\\n' })
    for (let l = 0; l < 8; l++) add({ Action: 'output', Package, Test, Output: '    a_test.go:1: ' + 'x'.repeat(20) + l + '\\n' })
    const Action = process.argv[2] === 'failing' && p === 29 && t === 7 ? 'fail' : t % 100 === 99 ? 'skip' : 'pass'
    add({ Action: 'output', Package, Test, Output: '--- PASS: ' + Test + ' (0.00s)\\n' })
    add({ Action, Package, Test, Elapsed: 0 })
  }
  const Action = process.argv[2] === 'failing' && p === 29 ? 'fail' : 'pass'
  add({ Action: 'output', Package, Output: (Action === 'pass' ? 'ok  ' : 'FAIL') + '\\t' + Package + '\\t0.01s\\n' })
  add({ Action, Package, Elapsed: 0.01 })
}
if (process.argv[2] === 'cut') text = text.slice(0, -30)
process.stdout.write(text, () => process.exit(process.argv[2] === 'failing' ? 1 : 0))
`

function isGreen(run: ObservedRun): boolean {
  return judgePassing(run, { pinned: null, baseline: null }).result === 'holds'
}

describe('a report of go test -json that is larger than the output that is kept', () => {
  const observe = (how: string): Promise<ObservedRun> =>
    stand.observe({ 'print.cjs': PRINT_GO }, { run: `node print.cjs ${how}` })

  it('[REQ-REPORT-13] counts as cut off when its last line is incomplete, and opens nothing', async () => {
    const run = await observe('cut')
    expect(run).toMatchObject({
      exitCode: 0,
      counts: null,
      tests: [],
      trouble: { cause: 'cut off', mendedBy: 'agent' },
    })
    expect(isGreen(run)).toBe(false)
  })

  it('[REQ-REPORT-13] is read to its last test', async () => {
    const run = await observe('whole')
    expect(run).toMatchObject({
      ...{ format: 'go', counts: { passed: 8910, failed: 0, skipped: 90 }, isComplete: true, problem: null },
    })
    expect(new Set(run.tests.map(({ id }) => id)).size).toBe(TESTS)
    expect(run.tests.at(-1)?.id).toBe('example.org/many/p29 > TestNumber299')
    expect(isGreen(run)).toBe(true)
  })

  it('[REQ-REPORT-13] keeps the one failure among thousands', async () => {
    const run = await observe('failing')
    expect(run.counts).toEqual({ passed: 8909, failed: 1, skipped: 90 })
    expect(run.tests.find(({ status }) => status === 'failed')).toMatchObject({
      ...{ id: 'example.org/many/p29 > TestNumber7', message: expect.stringContaining('a_test.go:1: ') },
    })
  })
})

describe('output of which a part is missing', () => {
  it.each([
    ['more than is kept', `yes 'log line' | head -c ${9 * MEBIBYTE}; printf 'TAP version 13\\n1..1\\nok 1 - a\\n'`],
    ['a JUnit document without its end', `printf '<testsuite tests="1">\\n<testcase name="a"/>'`],
  ])('[REQ-REPORT-13] %s is called cut off', async (_what, run) => {
    const observed = await stand.observe({}, { run })
    expect(observed).toMatchObject({ counts: null, trouble: { cause: 'cut off' } })
    expect(isGreen(observed)).toBe(false)
  })

  it('[REQ-REPORT-13] a command that writes without end is stopped at the limit', async () => {
    const endless = `yes 'log line' | head -c ${OBSERVED_OUTPUT_BYTES_MAX + MEBIBYTE}`
    const observed = await stand.observe({}, { run: endless })
    expect(observed).toMatchObject({ wasStopped: true, counts: null, trouble: { cause: 'cut off' } })
  })

  it('[REQ-REPORT-13] long output that is whole is read', async () => {
    const run = `yes 'a line of a log, as long as lines of logs usually are' | head -c ${6 * MEBIBYTE}; printf '\\nTAP version 13\\n1..1\\nok 1 - a\\n'`
    expect(await stand.observe({}, { run, format: 'tap' })).toMatchObject({ counts: { passed: 1 }, problem: null })
  })
})
