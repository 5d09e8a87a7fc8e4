import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judgePassing } from '../../src/checks/red-green/green-run.js'
import type { ObservedRun } from '../../src/core/evidence/observed-run.js'
import { installed } from '../mcp/packages.js'
import { installPython } from '../repositories/python-packages.js'
import { openStand, type Stand } from './second-run.js'

// Libraries that patch clocks and I/O are installed for these tests, which are skipped where they cannot be had.
const NODE = installed('mocking', ['jest@30', 'mocha@11', 'vitest@4', 'sinon@21', 'nock@14', 'msw@2'])
const PYTHON = installPython(['pytest', 'freezegun', 'time-machine', 'pytest-mock', 'responses', 'requests-mock'])

let stand: Stand

beforeAll(async () => {
  stand = await openStand()
})

afterAll(() => stand.close())

function expectGreen(run: ObservedRun, passed: number): void {
  const verdict = judgePassing(run, { pinned: null, baseline: null })
  expect(verdict.result, JSON.stringify([verdict, run.problem, run.trouble, run.tests])).toBe('holds')
  expect(run.counts).toMatchObject({ passed, failed: 0 })
}

const SRC = {
  'src/today.cjs':
    'exports.today = () => new Date().getFullYear()\nexports.get = async (url) => (await fetch(url)).json()\n',
}

const SINON = `const { strict: assert } = require('node:assert')
const sinon = require('sinon')
const fs = require('node:fs')
const { today } = require('../src/today.cjs')
const check = () => {
  const clock = sinon.useFakeTimers(new Date('2001-02-03'))
  let isDone = false
  setTimeout(() => { isDone = true }, 60_000)
  clock.tick(60_000)
  try { assert.deepEqual([today(), isDone], [2001, true]) } finally { clock.restore() }
  const read = sinon.stub(fs, 'readFileSync').returns('stubbed')
  assert.equal(fs.readFileSync('nowhere'), 'stubbed')
  read.restore()
  const spy = sinon.spy(console, 'log')
  console.log('x')
  sinon.assert.calledOnceWithExactly(spy, 'x')
  sinon.restore()
}
`
const NOCK = `const { strict: assert } = require('node:assert')
const http = require('node:http')
const nock = require('nock')
const { get } = require('../src/today.cjs')
const check = async () => {
  nock.disableNetConnect()
  nock('http://api.test').get('/a').reply(200, { a: 1 })
  nock('http://api.test').get('/b').reply(500)
  assert.equal((await get('http://api.test/a')).a, 1)
  const status = await new Promise((resolve) => http.get('http://api.test/b', (answer) => { answer.resume(); resolve(answer.statusCode) }))
  assert.equal(status, 500)
  nock.cleanAll()
  nock.restore()
}
`
const MSW = `const { strict: assert } = require('node:assert')
const { http, HttpResponse } = require('msw')
const { setupServer } = require('msw/node')
const { get } = require('../src/today.cjs')
const check = async () => {
  const server = setupServer(http.get('http://api.test/a', () => HttpResponse.json({ a: 1 })))
  server.listen({ onUnhandledRequest: 'error' })
  assert.deepEqual(await get('http://api.test/a'), { a: 1 })
  await assert.rejects(get('http://api.test/other'))
  server.close()
}
`

describe.skipIf(!NODE.ok)(`libraries of Node.js${NODE.ok ? '' : ` (${NODE.reason})`}`, () => {
  const packages = NODE.ok ? join(NODE.dir, 'node_modules') : ''
  const runners = [
    ['node:test', "require('node:test').test('works', check)\n", 'node --test tests/'],
    ['mocha', "it('works', check)\n", 'node node_modules/mocha/bin/mocha.js tests/*.test.cjs'],
    [
      'jest',
      "test('works', check)\n",
      'node node_modules/jest/bin/jest.js --verbose --testMatch "**/tests/*.test.cjs"',
    ],
  ] as const
  const libraries = [
    ['sinon', SINON],
    ['nock', NOCK],
    ['msw', MSW],
  ] as const
  // Modules that msw 2 needs cannot be loaded by jest without a configuration.
  const cases = libraries
    .flatMap(([library, text]) =>
      runners.map(([runner, end, run]) => ({ library, runner, run, text: `${text}${end}` })),
    )
    .filter(({ library, runner }) => !(library === 'msw' && runner === 'jest'))

  it.each(cases)('[REQ-GUARD-7] $library works with $runner', async ({ runner, run, text }) => {
    const files = { ...SRC, 'package.json': '{"name":"a"}', 'tests/a.test.cjs': text }
    expectGreen(await stand.observe(files, { run, format: runner === 'node:test' ? 'node' : runner }, packages), 1)
  })

  it.each([
    ['jest', 'jest', 'node node_modules/jest/bin/jest.js --verbose'],
    ['vitest', 'vi', 'node node_modules/vitest/vitest.mjs run --globals --reporter=verbose'],
  ] as const)('[REQ-GUARD-7] fake timers of %s work', async (runner, name, run) => {
    const test = `test('works', () => {
  ${name}.useFakeTimers({ now: new Date('2001-02-03') })
  const done = ${name}.fn()
  setTimeout(done, 60_000)
  ${name}.advanceTimersByTime(60_000)
  expect(done).toHaveBeenCalledTimes(1)
  expect(new Date().getFullYear()).toBe(2001)
  expect(performance.now()).toBeGreaterThan(59_000)
  ${name}.useRealTimers()
  const spy = ${name}.spyOn(Date, 'now').mockReturnValue(7)
  expect(Date.now()).toBe(7)
  spy.mockRestore()
})
`
    const files = { 'package.json': '{"name":"a"}', 'tests/a.test.js': test }
    expectGreen(await stand.observe(files, { run, format: runner }, packages), 1)
  })

  it('[REQ-GUARD-7] a test that fails under a fake clock stays red', async () => {
    const text = `${SINON.replace('[2001, true]', '[2002, true]')}require('node:test').test('works', check)\n`
    const files = { ...SRC, 'package.json': '{"name":"a"}', 'tests/a.test.cjs': text }
    expect((await stand.observe(files, { run: 'node --test tests/' }, packages)).counts).toMatchObject({ failed: 1 })
  })
})

describe.skipIf(!PYTHON.ok)('libraries of Python', () => {
  const observe = (test: string): Promise<ObservedRun> =>
    stand.observe(
      { 'app.py': 'import datetime, time\n\ndef year():\n    return datetime.date.today().year\n', 'test_a.py': test },
      { run: 'python3 -m pytest -v', env: { PYTHONPATH: 'node_modules', PYTHONDONTWRITEBYTECODE: '1' } },
      PYTHON.ok ? PYTHON.dir : undefined,
    )

  it.each([
    [
      'freezegun',
      '@freezegun.freeze_time("2001-02-03")\ndef test_a():\n    assert app.year() == 2001\n    assert time.time() < 1e9\n',
    ],
    [
      'time_machine',
      '@time_machine.travel("2001-02-03", tick=False)\ndef test_a():\n    assert app.year() == 2001\n    assert time.time() < 1e9\n',
    ],
    [
      'pytest_mock',
      'def test_a(mocker):\n    mocker.patch("time.time", return_value=7)\n    opened = mocker.patch("builtins.open", mocker.mock_open(read_data="x"))\n    assert (time.time(), open("nowhere").read()) == (7, "x")\n    opened.assert_called_once_with("nowhere")\n',
    ],
    [
      'responses',
      'import requests\n\n@responses.activate\ndef test_a():\n    responses.get("http://api.test/a", json={"a": 1})\n    assert requests.get("http://api.test/a").json() == {"a": 1}\n',
    ],
    [
      'requests_mock',
      'import requests\n\ndef test_a():\n    with requests_mock.Mocker() as m:\n        m.get("http://api.test/a", json={"a": 1})\n        assert requests.get("http://api.test/a").json() == {"a": 1}\n',
    ],
  ])('[REQ-GUARD-7] %s works with pytest', async (library, test) => {
    expectGreen(await observe(`import time\nimport app\nimport ${library}\n\n${test}`), 1)
  })

  it('[REQ-GUARD-7] a test that fails under a frozen clock stays red', async () => {
    const test = '@freezegun.freeze_time("2001-02-03")\ndef test_a():\n    assert app.year() == 2002\n'
    expect((await observe(`import app\nimport freezegun\n\n${test}`)).counts).toMatchObject({ failed: 1 })
  })
})
