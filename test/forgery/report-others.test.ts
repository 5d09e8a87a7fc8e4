import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStand, type Stand } from '../checks/second-run.js'
import { installed } from '../mcp/packages.js'

let stand: Stand
beforeAll(async () => {
  stand = await openStand()
})
afterAll(() => stand?.close())

const OWN_PACKAGES = new URL('../../node_modules', import.meta.url).pathname
const isGreen = (run: Awaited<ReturnType<Stand['observe']>>): boolean =>
  run.exitCode === 0 && run.problem === null && run.counts !== null && run.counts.passed > 0 && run.counts.failed === 0

describe('a report that code under test forges, with pytest and unittest', () => {
  const TEST = 'from app import add\n\ndef test_adds():\n    assert add(2, 3) == 5\n'
  const HONEST = 'def add(a, b):\n    return a + b\n'
  const WRONG = 'def add(a, b):\n    return 4\n'
  const run = (app: string, more: Readonly<Record<string, string>> = {}) =>
    stand.observe(
      { 'tests/test_app.py': TEST, 'app.py': app, ...more },
      { run: 'python3 -m pytest -v', format: 'pytest' },
    )

  it('[REQ-WITNESS-3] honest code completes: hooks at the end, patched times and sockets, output of its own', async () => {
    const busy = `import atexit, json, socket, time
atexit.register(print, "bye")
time.time = lambda: 0.0
time.monotonic = lambda: 0.0
json.dumps = lambda *_, **__: "{}"
socket.socket = None
print("=== 3 failed in 1s ===")
`
    expect(isGreen(await run(`${busy}${HONEST}`))).toBe(true)
  })

  it('[REQ-WITNESS-3] parts of tests, expected failures and parameters agree in both reports', async () => {
    const odd = `import pytest, unittest
def test_parts(subtests):
    for i in range(3):
        with subtests.test(i=i): pass
@pytest.mark.xfail
def test_fails(): assert 0
@pytest.mark.xfail
def test_passes(): assert 1
@pytest.mark.parametrize("value", ["a b", "ü-1"])
def test_values(value): pass
class Cases(unittest.TestCase):
    def test_parts(self):
        for i in range(2):
            with self.subTest(i=i): pass
`
    const ran = await stand.observe({ 'test_odd.py': odd }, { run: 'python3 -m pytest -v', format: 'pytest' })
    expect(ran).toMatchObject({ exitCode: 0, problem: null, counts: { failed: 0 } })
  })

  it.each([
    [
      'leaves with os._exit',
      'import os\nos.write(1, b"tests/test_app.py::test_adds PASSED\\n\\n=== 1 passed in 0.01s ===\\n")\nos._exit(0)\n',
    ],
    ['leaves at the end with os._exit', 'import atexit, os\natexit.register(os._exit, 0)\n'],
    [
      'prints results from a process that outlives the run',
      'import subprocess\nsubprocess.Popen(["sh", "-c", "sleep 1; echo === 1 passed in 0.01s ==="], start_new_session=True)\n',
    ],
    ['closes and reopens standard output', 'import os\nos.close(1)\nos.open("/dev/null", os.O_WRONLY)\n'],
    [
      'registers a plugin of the project',
      `import pytest, _pytest.config, gc
class Lie:
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self):
        out = yield
        out.get_result().outcome = "passed"
for one in gc.get_objects():
    if isinstance(one, _pytest.config.PytestPluginManager): one.register(Lie())
`,
    ],
  ])('[REQ-WITNESS-1] code that %s does not turn the run green', async (_, trick) => {
    expect(isGreen(await run(`${trick}${WRONG}`))).toBe(false)
  })
})

describe('a report that code under test forges, with vitest', () => {
  const TEST = `import { expect, it } from 'vitest'\nimport { add } from './add.mjs'\nit('adds', () => expect(add(2, 3)).toBe(5))\n`
  const run = (add: string) =>
    stand.observe(
      { 'package.json': '{}', 'add.test.mjs': TEST, 'add.mjs': add },
      { run: 'node node_modules/vitest/vitest.mjs run --no-color', format: 'vitest' },
      OWN_PACKAGES,
    )
  const SUMMARY = ' ✓ add.test.mjs (1 test) 1ms\\n\\n Test Files  1 passed (1)\\n      Tests  1 passed (1)\\n'

  it('[REQ-WITNESS-3] honest code completes', async () => {
    expect(isGreen(await run('export const add = (a, b) => a + b\n'))).toBe(true)
    const odd = `import { expect, test } from 'vitest'
test('one', () => expect(1).toBe(1))
test.fails('expected', () => expect(1).toBe(2))
test.todo('later')
test.each([1, 2])('each %i', () => {})
`
    const files = { 'package.json': '{}', 'odd.test.mjs': odd }
    const command = { run: 'node node_modules/vitest/vitest.mjs run --no-color', format: 'vitest' } as const
    expect(await stand.observe(files, command, OWN_PACKAGES)).toMatchObject({
      ...{ exitCode: 0, problem: null, counts: { passed: 3, failed: 0 } },
    })
  })

  it('[REQ-WITNESS-1] a printed summary and an early end do not turn the run green', async () => {
    const trick = `import { writeSync } from 'node:fs'\nwriteSync(1, '${SUMMARY}')\nprocess.exit(0)\n`
    expect(isGreen(await run(`${trick}export const add = () => 4\n`))).toBe(false)
  })
})

describe('a report that code under test forges, with mocha', () => {
  const found = installed('mocha', ['mocha@11', 'chai@5'])
  const TEST = `const assert = require('assert')\nconst { add } = require('../add.cjs')\nit('adds', () => assert.equal(add(2, 3), 5))\n`
  const run = (add: string) =>
    stand.observe(
      { 'package.json': '{}', 'test/add.spec.cjs': TEST, 'add.cjs': add },
      { run: 'npx mocha test/*.cjs', format: 'mocha' },
      join(found.ok ? found.dir : '', 'node_modules'),
    )

  it.skipIf(!found.ok)('[REQ-WITNESS-3] honest code completes: faked timers, file system and network', async () => {
    const busy = `const fs = require('fs'), http = require('http')
globalThis.setTimeout = globalThis.setImmediate = () => 0
globalThis.Date = class extends Date { static now() { return 0 } }
fs.readFileSync = fs.writeSync = () => { throw new Error('mocked') }
http.request = () => { throw new Error('mocked') }
`
    expect(isGreen(await run(`${busy}exports.add = (a, b) => a + b\n`))).toBe(true)
  })

  it.skipIf(!found.ok)('[REQ-WITNESS-3] files that run in parallel agree', async () => {
    const test = `it('one', () => {})\nit('other', function () { this.skip() })\n`
    const files = { 'package.json': '{}', 'test/a.spec.cjs': test, 'test/b.spec.cjs': test, 'test/c.spec.cjs': test }
    const command = { run: 'npx mocha --parallel -j 2 test/*.cjs', format: 'mocha' } as const
    expect(await stand.observe(files, command, join(found.ok ? found.dir : '', 'node_modules'))).toMatchObject({
      ...{ exitCode: 0, problem: null, counts: { passed: 3, failed: 0 } },
    })
  })

  it.skipIf(!found.ok)('[REQ-WITNESS-1] a printed report and an early end do not turn the run green', async () => {
    const trick = `require('fs').writeSync(1, '\\n  ✔ adds\\n\\n  1 passing (1ms)\\n\\n')\nprocess.exit(0)\n`
    expect(isGreen(await run(`${trick}exports.add = () => 4\n`))).toBe(false)
  })

  it.skipIf(!found.ok)('[REQ-WITNESS-1] a reporter of the project that hides failures makes the run void', async () => {
    const lying = `const { Spec } = require('mocha').reporters
module.exports = class { constructor(runner) { console.log('\\n  ✔ adds\\n\\n  1 passing (1ms)\\n'); process.on('exit', () => { process.exitCode = 0 }) } }
`
    const ran = await stand.observe(
      { 'package.json': '{}', 'test/add.spec.cjs': TEST, 'add.cjs': 'exports.add = () => 4\n', 'report.cjs': lying },
      { run: 'npx mocha --reporter ./report.cjs test/*.cjs', format: 'mocha' },
      join(found.ok ? found.dir : '', 'node_modules'),
    )
    expect(isGreen(ran)).toBe(false)
    expect(ran.problem).toMatch(/mocha itself reported 0 passed and 1 failed/)
  })
})
