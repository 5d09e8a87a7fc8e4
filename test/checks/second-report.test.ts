import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSecondReport } from '../../src/checks/observed-runs/second-report.js'
import { findDisagreement } from '../../src/checks/reports/agreement.js'
import type { TestReport } from '../../src/checks/reports/report.js'
import { depth, isFullDepth } from '../depth.js'
import { installed } from '../mcp/packages.js'
import { openStand, type Stand } from './second-run.js'

const OWN_PACKAGES = new URL('../../node_modules', import.meta.url).pathname

let stand: Stand
beforeAll(async () => {
  stand = await openStand()
})
afterAll(() => stand?.close())

// Each says what it sees of the guard, and of the process that started it.
const LOOK_JS = `const fs = require('node:fs')
const names = Object.keys(process.env).filter((name) => /guards[/]|phaselock/i.test(name + process.env[name]))
const modules = Object.keys(require.cache).filter((file) => /guards[/]node/.test(file))
const flags = [...process.execArgv, ...process.argv].filter((word) => /guards[/]node/.test(word))
let memory = 'open'
try { fs.closeSync(fs.openSync('/proc/' + process.ppid + '/mem', 'r+')) } catch (error) { memory = error.code }
let signal = 'sent'
try { process.kill(process.ppid, 'SIGUSR1') } catch (error) { signal = error.code }
console.log('LOOKED ' + JSON.stringify({ names, modules, flags, memory, signal }))
`
const LOOK_PY = `import json, os, signal, sys
names = [name for name, value in os.environ.items() if "guards/" in value or "PHASELOCK" in name]
memory = sent = "open"
try:
    open("/proc/%d/mem" % os.getppid(), "r+b")
except OSError as error:
    memory = error.errno
try:
    os.kill(os.getppid(), signal.SIGUSR1)
except OSError as error:
    sent = error.errno
print("LOOKED " + json.dumps({"names": names, "modules": [], "flags": [p for p in sys.path if "guards/" in p], "memory": memory, "signal": sent}))
`

function lookedIn(output: string): Readonly<Record<string, unknown>> {
  const line = /LOOKED (\{.*\})/.exec(output)?.[1]
  if (line === undefined) throw new Error(output)
  return JSON.parse(line) as Record<string, unknown>
}

describe('the report of a runner to Phaselock itself', () => {
  it('[REQ-WITNESS-1] node:test reports every test with its parts, and code under test finds no trace of the guard', async () => {
    const test = `${LOOK_JS}const { describe, test } = require('node:test')
test('whole', async (t) => { await t.test('part', () => {}) })
describe('some', () => { test('one', () => {}); test.skip('later', () => {}); test('broken', () => { throw new Error('no') }) })
`
    const files = {
      'package.json': '{"scripts": {"test": "node --test --test-reporter=tap tests/"}}',
      'tests/a.test.cjs': test,
    }
    const { told, run } = await stand.hear(files, 'npm test')
    expect(run.exitCode).toBe(1)
    expect(told).toMatchObject([{ runner: 'node', hasEnded: true }])
    expect(told[0]?.tests.map(({ name, status, isParent }) => `${name} ${status}${isParent ? ' parent' : ''}`)).toEqual(
      [...['part passed', 'whole passed parent', 'one passed', 'later skipped', 'broken failed', 'some failed parent']],
    )
    expect(lookedIn(run.stdout)).toEqual({ names: [], modules: [], flags: [], memory: 'EACCES', signal: 'EPERM' })
  })

  it('[REQ-WITNESS-1] pytest and unittest report their tests', async () => {
    const test = `${LOOK_PY}
def test_good(): pass
def test_bad(): assert 1 == 2
`
    const pytest = await stand.hear({ 'test_a.py': test }, 'python3 -m pytest -s')
    expect(pytest.told).toMatchObject([
      {
        runner: 'pytest',
        hasEnded: true,
        tests: [
          { name: 'test_good', status: 'passed' },
          { name: 'test_bad', status: 'failed' },
        ],
      },
    ])
    expect(lookedIn(pytest.run.stdout)).toEqual({ names: [], modules: [], flags: [], memory: 13, signal: 1 })
    const cases = 'import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n'
    const unittest = await stand.hear({ 'test_a.py': cases }, 'python3 -m unittest')
    expect(unittest.told).toMatchObject([{ runner: 'unittest', hasEnded: true, tests: [{ status: 'passed' }] }])
  })

  it('[REQ-WITNESS-6] tests that pytest -q does not print are known from its own report', async () => {
    const test = `import pytest
def test_good(): pass
@pytest.mark.parametrize("n", [1, 2])
def test_each(n): pass
@pytest.mark.skip
def test_later(): pass
@pytest.mark.xfail
def test_not_yet(): assert False
class TestMore:
    def test_bad(self): assert 1 == 2
`
    const files = { 'pytest.ini': '[pytest]\n', 'tests/test_a.py': test }
    const idsOf = async (run: string) => {
      const { tests, isComplete } = await stand.observe(files, { run, format: 'pytest' })
      return { isComplete, ids: tests.map(({ id, status, file }) => `${status} ${id} in ${file}`).toSorted() }
    }
    for (const place of depth(['--rootdir=tests tests'], ['--rootdir=tests tests', 'tests'])) {
      const verbose = await idsOf(`python3 -m pytest -v ${place}`)
      expect(verbose.ids).toHaveLength(6)
      expect(await idsOf(`python3 -m pytest -q ${place}`)).toEqual(verbose)
    }
  })

  it('[REQ-WITNESS-1] vitest reports its tests from its main process', async () => {
    const test = `import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
const require = createRequire(import.meta.url)
${LOOK_JS}test('good', () => expect(1).toBe(1))
test('bad', () => expect(1).toBe(2))
`
    const { told, run } = await stand.hear(
      { 'package.json': '{}', 'a.test.mjs': test },
      'node node_modules/vitest/vitest.mjs run',
      OWN_PACKAGES,
    )
    expect(told).toMatchObject([
      {
        runner: 'vitest',
        hasEnded: true,
        tests: [
          { name: 'good', status: 'passed' },
          { name: 'bad', status: 'failed' },
        ],
      },
    ])
    expect(lookedIn(run.stdout)).toEqual({ names: [], modules: [], flags: [], memory: 'EACCES', signal: 'EPERM' })
  })

  const spec = `${LOOK_JS}describe('some', () => { it('good', () => {}); it('bad', () => { throw new Error('no') }) })\n`
  const expected = [
    { name: 'good', status: 'passed' },
    { name: 'bad', status: 'failed' },
  ]

  it.runIf(isFullDepth())('[REQ-WITNESS-1] mocha reports its tests', async () => {
    const found = installed('mocha', ['mocha@11', 'chai@5'])
    if (!found.ok) throw new Error(found.reason)
    const files = { 'package.json': '{}', 'test/a.spec.cjs': spec }
    const { told, run } = await stand.hear(files, 'npx mocha test/*.cjs', join(found.dir, 'node_modules'))
    expect(told).toMatchObject([{ runner: 'mocha', hasEnded: true, tests: expected }])
    expect(lookedIn(run.stdout)).toMatchObject({ names: [], modules: [], flags: [], signal: 'EPERM' })
  })

  it.runIf(isFullDepth())('[REQ-WITNESS-1] jest reports its tests', async () => {
    const found = installed('jest', ['jest@30'])
    if (!found.ok) throw new Error(found.reason)
    const files = { 'package.json': '{}', 'test/a.test.js': spec, 'test/b.test.js': 'test("other", () => {})\n' }
    const { told } = await stand.hear(files, 'npx jest', join(found.dir, 'node_modules'))
    expect(told).toMatchObject([{ runner: 'jest', hasEnded: true }])
    const names = told[0]?.tests.map(({ name, status }) => `${name} ${status}`).sort()
    expect(names).toEqual(['bad failed', 'good passed', 'other passed'])
  })
})

describe('a report checked against what the runner reported', () => {
  const report = (passed: number, failed: number, names: readonly string[] = []): TestReport => ({
    ...{
      format: 'tap',
      source: 'output',
      passed,
      failed,
      skipped: 0,
      complete: true,
      loadFailures: [],
      truncated: false,
    },
    tests: names.map((id) => ({ id, status: 'passed', file: null, message: null })),
  })
  const told = (...lines: readonly object[]) => {
    const found = readSecondReport([{ runner: 'node' }, ...lines].map((line) => JSON.stringify(line)).join('\n'))
    return found === null ? [] : [found]
  }
  const GOOD = { test: 'adds', status: 'passed' }
  const BAD = { test: 'adds', status: 'failed' }
  const END = { end: true }

  it('[REQ-WITNESS-1] both must name the same numbers', () => {
    expect(findDisagreement(report(1, 0, ['s > adds']), 0, told(GOOD, END))).toBeNull()
    expect(findDisagreement(report(0, 1), 1, told(BAD, END))).toBeNull()
    expect(findDisagreement(report(1, 0), 0, told(BAD, END))).toMatch(/1 passed and 0 failed, .*0 passed and 1 failed/)
    expect(findDisagreement(report(0, 1), 1, told(GOOD, END))).toMatch(/0 passed and 1 failed, .*1 passed and 0 failed/)
    expect(findDisagreement(report(2, 0), 0, told(GOOD, END))).toMatch(/2 passed/)
    expect(findDisagreement(report(1, 0), 0, told(GOOD, { ...GOOD, test: 'more' }, END))).toMatch(/reported 2 passed/)
  })

  it('[REQ-WITNESS-1] a runner that did not end contradicts exit code 0, and no report can be withdrawn', () => {
    expect(findDisagreement(report(1, 0), 0, told(GOOD))).toMatch(/did not finish/)
    expect(findDisagreement(report(0, 1), 137, told(GOOD))).toBeNull()
    const forged = { ...told(GOOD, END)[0], runner: 'node' } as ReturnType<typeof told>[number]
    expect(findDisagreement(report(1, 0), 0, [...told(BAD, END), forged])).toMatch(/1 failed/)
    expect(findDisagreement(report(1, 0), 0, [...told(BAD), forged])).toMatch(/did not finish/)
  })

  it('[REQ-WITNESS-1] a test that the runner never ran is named', () => {
    expect(findDisagreement(report(1, 0, ['s > subtracts']), 0, told(GOOD, END))).toMatch(/"s > subtracts" passed/)
  })

  it('[REQ-WITNESS-3] parts of tests, equal names and escaped names agree; a silent runner contradicts nothing', () => {
    const parts = told(GOOD, { test: 'whole', status: 'passed', isParent: true }, END)
    expect(findDisagreement(report(1, 0), 0, parts)).toBeNull()
    expect(findDisagreement(report(2, 0), 0, parts)).toBeNull()
    expect(findDisagreement(report(2, 0, ['a > adds', 'a > adds #2']), 0, told(GOOD, GOOD, END))).toBeNull()
    const odd = { test: 'adds # 1 \\ and\n"2"', status: 'passed' }
    expect(findDisagreement(report(1, 0, ['adds \\# 1 \\\\ and "2"']), 0, told(odd, END))).toBeNull()
    expect(findDisagreement(report(1, 0), 0, [])).toBeNull()
    expect(readSecondReport('{"test": "adds"}\nnot json\n')).toBeNull()
  })
})
