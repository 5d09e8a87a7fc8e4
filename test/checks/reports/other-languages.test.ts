import { describe, expect, it } from 'vitest'
import { readReport } from '../../../src/checks/reports/read-report.js'
import type { ReportInput } from '../../../src/checks/reports/report.js'
import { recorded } from './fixtures.js'

function given(input: Partial<ReportInput>) {
  return readReport({
    ...{ format: 'auto', stdout: '', stderr: '', reportText: null, exitCode: 0, root: '/project' },
    ...input,
  })
}

const TRX = `<?xml version="1.0" encoding="utf-8"?>
<TestRun id="1" name="dev" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Results>
    <UnitTestResult testId="a" testName="Example.CalcTest.Adds" outcome="Passed" />
    <UnitTestResult testId="b" testName="Example.CalcTest.Divides(a: 1, b: 0)" outcome="Failed">
      <Output><ErrorInfo><Message>Assert.Equal() Failure</Message><StackTrace>at x</StackTrace></ErrorInfo></Output>
    </UnitTestResult>
    <UnitTestResult testId="c" testName="Example.CalcTest.Later" outcome="NotExecuted" />
  </Results>
  <TestDefinitions>
    <UnitTest name="Adds" id="a"><TestMethod className="Example.CalcTest" name="Adds" /></UnitTest>
    <UnitTest name="Divides" id="b"><TestMethod className="Example.CalcTest" name="Divides" /></UnitTest>
    <UnitTest name="Later" id="c"><TestMethod className="Example.CalcTest" name="Later" /></UnitTest>
  </TestDefinitions>
  <ResultSummary outcome="Failed"><Counters total="3" executed="2" passed="1" failed="1" error="0" /></ResultSummary>
</TestRun>`

describe('TRX of dotnet test', () => {
  it('[REQ-REPORT-1] is unreadable when its counters do not match its results, or its end is missing', () => {
    expect(given({ reportText: TRX.replace('passed="1"', 'passed="2"'), exitCode: 1 }).result).toBe('unreadable')
    expect(given({ reportText: TRX.replace('outcome="Failed">', 'outcome="Passed">'), exitCode: 1 }).result).toBe(
      'unreadable',
    )
    expect(given({ reportText: TRX.replace(/<ResultSummary.*/s, '</TestRun>'), exitCode: 1 }).result).toBe('unreadable')
    expect(given({ reportText: TRX.slice(0, -12), exitCode: 1 })).toMatchObject({ isCut: true })
  })

  it('[REQ-REPORT-1] gives counts, ids and messages', () => {
    expect(given({ reportText: TRX, exitCode: 1 })).toMatchObject({
      result: 'read',
      report: {
        ...{ format: 'trx', source: 'report', passed: 1, failed: 1, skipped: 1, complete: true },
        tests: [
          { id: 'Example.CalcTest > Adds' },
          { id: 'Example.CalcTest > Divides(a: 1, b: 0)', message: 'Assert.Equal() Failure' },
          { id: 'Example.CalcTest > Later', status: 'skipped' },
        ],
      },
    })
  })
})

describe('summaries that do not fit what is listed beside them', () => {
  it.each([
    ['rspec3/json/fail', '"failure_count":1', '"failure_count":0'],
    ['rspec3/json/pass', '"example_count":2', '"example_count":3'],
    ['rspec3/json/pass', '"status":"passed"', '"status":"fine"'],
    ['rspec3/progress/fail', '2 examples, 1 failure', '2 examples, 0 failures'],
    ['phpunit9/default/fail', 'Failures: 1', 'Skipped: 1'],
    ['maven3/default/fail', '[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1\n', '[INFO] x\n'],
  ])('[REQ-REPORT-5] %s with %s as %s is unreadable', (name, from, to) => {
    const run = recorded(name)
    const text = `${run.stdout}${run.reportText}`
    expect(text).toContain(from)
    const changed = { stdout: run.stdout.replace(from, to), reportText: run.reportText?.replace(from, to) ?? null }
    expect(given({ ...run, ...changed }).result).toBe('unreadable')
    expect(given(run).result).toBe('read')
  })
})

describe('JUnit XML of further runners', () => {
  it('[REQ-REPORT-1] RspecJunitFormatter', () => {
    const reportText = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="rspec" tests="2" skipped="1" failures="0" errors="0" time="0.02">
<testcase classname="spec.calc_spec" name="Calc adds" file="./spec/calc_spec.rb" time="0.001"></testcase>
<testcase classname="spec.calc_spec" name="Calc waits" file="./spec/calc_spec.rb" time="0"><skipped/></testcase>
</testsuite>`
    expect(given({ reportText })).toMatchObject({
      report: { passed: 1, skipped: 1, tests: [{ file: 'spec/calc_spec.rb' }, {}] },
    })
  })

  it('[REQ-REPORT-1] Gradle', () => {
    const reportText = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="org.example.CalcTest" tests="2" skipped="0" failures="1" errors="0" timestamp="2026-01-01T00:00:00" hostname="h" time="0.03">
  <properties/>
  <testcase name="adds()" classname="org.example.CalcTest" time="0.01"/>
  <testcase name="fails()" classname="org.example.CalcTest" time="0.01"><failure message="expected: &lt;4&gt;" type="E">at x</failure></testcase>
  <system-out><![CDATA[Tests run: 9]]></system-out>
  <system-err><![CDATA[]]></system-err>
</testsuite>`
    expect(given({ reportText, exitCode: 1 })).toMatchObject({
      report: { passed: 1, failed: 1, tests: [{ id: 'org.example.CalcTest > adds()' }, {}] },
    })
  })
})

describe('what javac says through a build tool', () => {
  const failures = (stdout: string) => {
    const reading = given({ stdout, exitCode: 1 })
    return reading.result === 'unreadable' ? null : reading.report.loadFailures.map((one) => [one.kind, one.module])
  }

  it('[REQ-REPORT-3] a symbol or a package that is not there is missing, other errors are not', () => {
    const at = '/project/src/test/java/CalcTest.java'
    expect(
      failures(
        `${at}:5: error: cannot find symbol\n    Calc.plus(1, 2);\n        ^\n  symbol:   method plus(int,int)\n`,
      ),
    ).toEqual([['missing_module', 'plus']])
    expect(failures(`[ERROR] ${at}:[3,20] package org.example.x does not exist\n`)).toEqual([
      ['missing_module', 'org.example.x'],
    ])
    expect(failures(`[ERROR] ${at}:[3,20] ';' expected\n`)).toEqual([['syntax', null]])
    expect(failures(`[ERROR] ${at}:[3,20] incompatible types: String cannot be converted to int\n`)).toEqual([
      ['other', null],
    ])
    expect(failures('a message: cannot find symbol\n')).toBeNull()
  })
})
