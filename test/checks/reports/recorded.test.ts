import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COVERAGE_FORMATS } from '../../../src/checks/reports/coverage.js'
import { readReport } from '../../../src/checks/reports/read-report.js'
import { TEST_FORMATS, type TestFormat } from '../../../src/checks/reports/report.js'
import { FORMATS } from '../../../src/contract/read/read-services.js'
import { type Recorded, recorded, recordedRuns } from './fixtures.js'
import { rendered } from './rendered.js'

const EXPECTED = new Map(
  readFileSync(join(import.meta.dirname, 'expected.txt'), 'utf8')
    .split('\n\n')
    .filter((block) => block.trim() !== '')
    .map((block) => [block.split('\n', 1)[0] ?? '', block.slice(block.indexOf('\n') + 1).trimEnd()]),
)

const RUNS = recordedRuns().filter((run) => !run.name.startsWith('coverage/'))

function read(run: Recorded, format: TestFormat = 'auto') {
  return readReport({ ...run, format, root: '/project' })
}

/** What a contract would say of a recorded run. */
function formatOf({ name }: Recorded): TestFormat {
  const [runner = '', reporter = ''] = name.split('/')
  if (reporter === 'junit' || reporter === 'xunit') return 'junit'
  if (reporter === 'tap' && !runner.startsWith('node')) return name.endsWith('mocha11/tap/missing') ? 'mocha' : 'tap'
  const format = TEST_FORMATS.find((one) => runner.startsWith(one))
  return runner.startsWith('unittest') ? 'pytest' : (format ?? 'auto')
}

describe('recorded runs', () => {
  it('[REQ-REPORT-1] there is an expectation for every recorded run, and a run for every expectation', () => {
    expect(RUNS.map((run) => run.name).sort()).toEqual([...EXPECTED.keys()].sort())
    expect(RUNS.length).toBeGreaterThan(250)
  })

  it.each(RUNS)('[REQ-REPORT-1] $name has exactly the counts, ids and load failures that are expected', (run) => {
    expect(rendered(read(run)).trimEnd()).toBe(EXPECTED.get(run.name))
  })

  it.each(RUNS)('[REQ-REPORT-1] $name is read the same when its format is named', (run) => {
    const auto = read(run)
    const named = read(run, formatOf(run))
    expect(named.result).toBe(auto.result)
    if (auto.result === 'unreadable' || named.result === 'unreadable') return
    expect({ ...named.report, format: '' }).toEqual({ ...auto.report, format: '' })
  })

  it('[REQ-REPORT-1] every format of contracts is one of tests or one of coverage', () => {
    expect([...FORMATS].sort()).toEqual([...TEST_FORMATS, ...COVERAGE_FORMATS].sort())
  })
})

describe('ids', () => {
  // Each pair: the same tests, once with a failure and once without, by reporters that list every test.
  it.each([
    ['node20/tap/pass', 'node20/tap/fail'],
    ['node20/spec/pass', 'node20/spec/fail'],
    ['node20/spec/pass', 'node20/tap/pass'],
    ['node20/spec/pass', 'node24/spec/fail'],
    ['node20/junit/pass', 'node20/junit/fail'],
    ['vitest4/json/pass', 'vitest4/json/fail'],
    ['vitest4/json/pass', 'vitest4/verbose/fail'],
    ['vitest4/json/pass', 'vitest4/tap/fail'],
    ['vitest4/json/pass', 'vitest4/junit/fail'],
    ['jest30/json/pass', 'jest30/json/fail'],
    ['jest30/json/pass', 'jest30/verbose/fail'],
    ['mocha11/spec/pass', 'mocha11/spec/fail'],
    ['pytest9/verbose/pass', 'pytest9/verbose/fail'],
    ['pytest9/verbose/pass', 'pytest9/ra/fail'],
    ['pytest9/junit/pass', 'pytest9/junit/fail'],
    ['unittest/verbose/pass', 'unittest/verbose/fail'],
    ['go/json/pass', 'go/json/fail'],
    ['go/verbose/pass', 'go/json/fail'],
  ])('[REQ-REPORT-2] a test has the same id in %s and %s', (one, other) => {
    const ids = [one, other].map((name) => {
      const reading = read(recorded(name))
      return reading.result === 'read' ? reading.report.tests.map((test) => test.id).sort() : null
    })
    expect(ids[0]?.length).toBeGreaterThan(2)
    expect(ids[1]).toEqual(ids[0])
  })

  it('[REQ-REPORT-2] no two tests of a run have the same id', () => {
    for (const run of RUNS) {
      const reading = read(run)
      if (reading.result === 'unreadable') continue
      const ids = reading.report.tests.map((test) => test.id)
      expect(new Set(ids).size, run.name).toBe(ids.length)
    }
  })

  it('[REQ-REPORT-2] the folder of the work tree is not part of ids, files and modules', () => {
    for (const run of RUNS) {
      const here = read(run)
      const moved = (text: string): string => text.replaceAll('/project', '/elsewhere/tree')
      const there = readReport({
        format: 'auto',
        root: '/elsewhere/tree',
        exitCode: run.exitCode,
        stdout: moved(run.stdout),
        stderr: moved(run.stderr),
        reportText: run.reportText === null ? null : moved(run.reportText),
      })
      if (here.result === 'unreadable' || there.result === 'unreadable') continue
      expect(
        there.report.tests.map(({ id, file }) => [id, file]),
        run.name,
      ).toEqual(here.report.tests.map(({ id, file }) => [id, file]))
      expect(
        there.report.loadFailures.map(({ file, module }) => [file, module]),
        run.name,
      ).toEqual(here.report.loadFailures.map(({ file, module }) => [file, module]))
    }
  })
})

describe('runs that did not run their tests', () => {
  const scenario = (...names: readonly string[]): readonly Recorded[] =>
    RUNS.filter((run) => names.includes(run.name.split('/')[2] ?? ''))

  it.each(scenario('missing', 'missing-package', 'missing-cjs', 'missing-name', 'missing-module', 'missing-crate'))(
    '[REQ-REPORT-3] $name is a missing module, wherever the reporter tells the cause',
    (run) => {
      const reading = read(run)
      // These reporters leave the cause or the file out, or do not count tests that passed.
      const silent = ['node20/junit/missing', 'jest30/junit/missing', 'go/plain/missing']
      if (silent.includes(run.name)) return
      expect(reading.result).toBe('read')
      if (reading.result !== 'read') return
      expect(reading.report.failed).toBe(0)
      expect(reading.report.loadFailures.length).toBeGreaterThan(0)
      for (const failure of reading.report.loadFailures) {
        expect(failure.kind).toBe('missing_module')
        expect(failure.module).toMatch(/^\S+$/)
        expect(failure.file).not.toBeNull()
      }
    },
  )

  it.each(scenario('syntax'))('[REQ-REPORT-3] $name is a syntax error and no missing module', (run) => {
    const reading = read(run)
    if (run.name === 'jest30/junit/syntax' || reading.result !== 'read') return
    expect(reading.report.loadFailures.map((failure) => failure.kind)).toEqual(['syntax'])
  })

  it.each(scenario('exit0', 'exit-early', 'empty', 'nofiles').filter((run) => run.exitCode === 0))(
    '[REQ-REPORT-4] $name ended with exit code 0, and nothing in it counts as a test that passed before the run left',
    (run) => {
      const reading = read(run)
      if (reading.result !== 'read') return
      expect(reading.report.passed).toBe(0)
    },
  )

  it.each(scenario('crash'))('[REQ-REPORT-4] $name is no run without failures', (run) => {
    const reading = read(run)
    if (reading.result === 'unreadable') return
    expect(reading.report.failed + reading.report.loadFailures.length).toBeGreaterThan(0)
  })

  it.each(scenario('fake'))('[REQ-REPORT-5] $name prints a summary of its own, and is not believed', (run) => {
    const reading = read(run)
    if (reading.result === 'unreadable') return
    expect(reading.report.passed).toBe(1)
    expect(reading.report.failed).toBe(1)
  })
})
