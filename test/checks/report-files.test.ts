import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judgePassing } from '../../src/checks/red-green/green-run.js'
import { readReport } from '../../src/checks/reports/read-report.js'
import { isReportPath } from '../../src/checks/test-files/test-files.js'
import { openStand, type Stand } from './second-run.js'

let stand: Stand

beforeAll(async () => {
  stand = await openStand()
})

afterAll(() => stand.close())

const SUREFIRE = '**/surefire-reports/TEST-*.xml'
const NAME = 'org.example.CalcTest'
const AT = 'target/surefire-reports/TEST-org.example.CalcTest.xml'

function suite(cases: string, count: number, failures = 0): string {
  const counts = `tests="${count}" errors="0" skipped="0" failures="${failures}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="${NAME}" ${counts}>\n${cases}\n</testsuite>\n`
}

const ADDS = `<testcase name="adds" classname="${NAME}" time="0.01"/>`
const FAILS = `<testcase name="fails" classname="${NAME}"><failure message="expected: 1">at x</failure></testcase>`
const WRITE = 'for m in first second; do mkdir -p $m/target/surefire-reports && cp $m/result.xml $m/'

describe('report files by glob', () => {
  it('[REQ-REPORT-14] two modules are summed, each test under the folder of its module', async () => {
    const run = await stand.observe(
      { 'first/result.xml': suite(ADDS, 1), 'second/result.xml': suite(`${ADDS}\n${FAILS}`, 2, 1) },
      { run: `${WRITE}${AT}; done; exit 1`, report: SUREFIRE },
    )
    expect(run).toMatchObject({ format: 'junit', counts: { passed: 2, failed: 1, skipped: 0 }, isComplete: true })
    expect(run.tests.map(({ id }) => id)).toEqual([
      `first > ${NAME} > adds`,
      `second > ${NAME} > adds`,
      `second > ${NAME} > fails`,
    ])
  })

  it('[REQ-REPORT-14] files from before the run never count', async () => {
    const old = { [`first/${AT}`]: suite(ADDS, 1), [`second/${AT}`]: suite(ADDS, 1) }
    const none = await stand.observe(old, { run: 'exit 0', report: SUREFIRE })
    expect(none).toMatchObject({ counts: null, problem: expect.stringContaining('not written') })
    expect(judgePassing(none, { pinned: null, baseline: null }).result).toBe('fails')
    const one = await stand.observe(
      { ...old, 'first/result.xml': suite(ADDS, 1) },
      {
        run: `mkdir -p first/target/surefire-reports; ls second/target/surefire-reports; cp first/result.xml first/${AT}`,
        report: SUREFIRE,
      },
    )
    expect(one.tests.map(({ id }) => id)).toEqual([`first > ${NAME} > adds`])
  })

  it('[REQ-REPORT-14] one unreadable file makes the run unreadable, and one without its end makes it cut off', async () => {
    const cut = suite(ADDS, 1).slice(0, -20)
    const files = { 'first/result.xml': suite(ADDS, 1), 'second/result.xml': cut }
    const run = await stand.observe(files, { run: `${WRITE}${AT}; done`, report: SUREFIRE })
    expect(run).toMatchObject({ counts: null, problem: expect.stringContaining(`second/${AT}`) })
    expect(run.trouble?.cause).toBe('cut off')
  })

  it('[REQ-REPORT-14] links are not followed, and more files than are read make it cut off', async () => {
    const linked = await stand.observe(
      { 'result.xml': suite(ADDS, 1) },
      { run: `mkdir -p target/surefire-reports; ln -s $PWD/result.xml ${AT}`, report: SUREFIRE },
    )
    expect(linked.counts).toBeNull()
    const many =
      'mkdir -p target/surefire-reports; cd target/surefire-reports; seq 5001 | sed s/.*/TEST-\\&.xml/ | xargs touch'
    expect(await stand.observe({}, { run: many, report: SUREFIRE })).toMatchObject({ trouble: { cause: 'cut off' } })
  })

  it('[REQ-REPORT-14] the folder of Gradle is read the same way', async () => {
    const run = await stand.observe(
      { 'result.xml': suite(ADDS, 1) },
      {
        run: 'mkdir -p lib/build/test-results/test && cp result.xml lib/build/test-results/test/TEST-a.xml',
        report: '**/build/test-results/**/*.xml',
      },
    )
    expect(run.tests.map(({ id }) => id)).toEqual([`lib > ${NAME} > adds`])
  })
})

it('[REQ-REPORT-14] sources and build files are never reports, whatever the glob matches', () => {
  for (const path of ['pom.xml', 'a/pom.xml', 'package.json', 'src/a.ts', 'phpunit.xml', 'tests/a_test.go'])
    expect(isReportPath('**/*', path), path).toBe(false)
  expect(isReportPath('**/*', 'reports/a.xml')).toBe(true)
  expect(isReportPath('reports/a.xml', 'reports/a.xml')).toBe(true)
})

it('[REQ-REPORT-14] reports of two runners are not summed', () => {
  const vitest = '{"numTotalTests":0,"numPassedTests":0,"testResults":[]}'
  const reading = readReport({
    ...{ format: 'auto', stdout: '', stderr: '', reportText: '', exitCode: 0 },
    reportFiles: [
      { path: 'a.xml', text: suite(ADDS, 1) },
      { path: 'b.json', text: vitest },
    ],
  })
  expect(reading).toMatchObject({ result: 'unreadable', reason: expect.stringContaining('b.json') })
})
