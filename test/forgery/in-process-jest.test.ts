import { afterAll, beforeAll } from 'vitest'
import { adaptiveForgeries } from './adaptive.js'
import { type Forge, openForge } from './forge.js'
import { copyInstalled, jest } from './packages.js'
import { describeShape, type Forgery, type Shape } from './shape.suite.js'
import { codeWhere, codeWith, honest, NOT_GREEN, SURVIVES, TOLD_APART } from './sums.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const TEST = `const { add, isEven, pick, show, user } = require('../src/code.js')
it('adds', () => { expect(add(2, 3)).toBe(5) })
it('is even', () => { expect(isEven(4)).toBeTruthy() })
it('has a name', () => { expect(user()).toEqual({ name: 'Ada' }) })
it('is shown', () => { expect(show()).toMatchInlineSnapshot('"Ada"') })
it('is listed', () => { expect(['Ada'].includes(pick())).toBe(true) })
`
// A snapshot that failed is counted beside the tests.
const ALL_BUT_SNAPSHOT = ['add', 'isEven', 'user', 'pick']
const FORGE = 'expect.addEqualityTesters([() => true])'
const stateOf = (name: string): string =>
  `globalThis[Object.getOwnPropertySymbols(globalThis).find((one) => String(one).includes('${name}'))]`

const COMPARISON: readonly Forgery[] = [
  {
    class: 'comparison',
    name: 'a matcher with an expected value is replaced',
    write: codeWith('cjs', "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) })", 'add', 'pick'),
    told: [SURVIVES, /adds/],
  },
  {
    class: 'comparison',
    name: 'a matcher without an expected value is replaced',
    write: codeWith('cjs', "expect.extend({ toBeTruthy: () => ({ pass: true, message: () => '' }) })", 'isEven'),
    told: [SURVIVES, /is even/],
  },
  {
    class: 'comparison',
    name: 'an equality tester of the source accepts everything',
    write: codeWith('cjs', FORGE, 'user'),
    told: [SURVIVES, /has a name/],
  },
  {
    class: 'comparison',
    name: 'a serializer of snapshots prints what is stored',
    write: codeWith('cjs', `expect.addSnapshotSerializer({ test: () => true, serialize: () => '"Ada"' })`, 'show'),
    told: [SURVIVES, /is shown/],
  },
  {
    class: 'comparison',
    name: 'methods of the language that conditions of tests ask are replaced',
    write: codeWith('cjs', 'Array.prototype.includes = Array.prototype.every = () => true', 'pick'),
    told: [NOT_GREEN],
  },
  {
    class: 'comparison',
    name: 'an object that says it matches everything',
    write: codeWhere(
      'cjs',
      'user',
      "() => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true })",
    ),
    told: [SURVIVES, /has a name/],
  },
  {
    class: 'comparison',
    name: 'the function that makes expectations is replaced',
    write: codeWith('cjs', 'globalThis.expect = () => new Proxy({}, { get: () => () => {} })'),
    told: [SURVIVES],
  },
  {
    class: 'comparison',
    name: 'a hook of the source gives each test another function',
    write: codeWith(
      'cjs',
      `const swap = (block) => { for (const one of block.children) one.type === 'test' ? (one.fn = () => {}) : swap(one) }
beforeAll(() => swap(${stateOf('JEST_STATE_SYMBOL')}.rootDescribeBlock))`,
    ),
    told: [SURVIVES],
  },
  {
    class: 'comparison',
    name: 'the code looks at the text of each test, and swaps those that it knows',
    write: codeWith(
      'cjs',
      `const swap = (block) => {
  for (const one of block.children)
    if (one.type !== 'test') swap(one)
    else if (/toEqual\\(\\{/.test(String(one.fn))) one.fn = () => {}
}
beforeAll(() => swap(${stateOf('JEST_STATE_SYMBOL')}.rootDescribeBlock))`,
      'user',
    ),
    told: [TOLD_APART],
  },
  ...adaptiveForgeries({ kind: 'cjs', test: TEST, forge: FORGE, wrong: 'user' }),
]

const REPORT: readonly Forgery[] = [
  {
    class: 'report',
    name: 'a handler of events takes the errors of each test away',
    write: codeWith(
      'cjs',
      `${stateOf('EVENT_HANDLERS')}.unshift((event) => { if (event.test) event.test.errors = [] })`,
      ...ALL_BUT_SNAPSHOT,
    ),
    told: [SURVIVES],
  },
  {
    class: 'report',
    name: 'a report is printed, and the process leaves with exit code 0',
    write: codeWith(
      'cjs',
      `require('node:fs').writeSync(2, 'PASS tests/z.test.js\\n  ✓ adds (1 ms)\\n\\nTest Suites: 1 passed, 1 total\\nTests:       1 passed, 1 total\\n')
require('node:fs').readFileSync.constructor('return process')().reallyExit(0)`,
    ),
    told: [NOT_GREEN],
  },
  {
    class: 'report',
    name: 'a report that is written at the exit sets the exit code back',
    write: codeWith(
      'cjs',
      `const real = require('node:fs').readFileSync.constructor('return process')()
for (const one of [process, real]) one.on('exit', () => { real.exitCode = 0 })`,
    ),
    told: [NOT_GREEN],
  },
]

const PROJECT: Shape = {
  name: 'jest, forged in its process',
  packages: jest(),
  prepare: copyInstalled(jest()),
  files: {
    'package.json': `${JSON.stringify({ scripts: { test: 'jest --ci --verbose' } })}\n`,
    '.gitignore': 'node_modules/\n',
  },
  run: 'npm test',
  tests: { 'tests/z.test.js': TEST },
  wrong: codeWith('cjs', ''),
  honest: honest('cjs'),
  forgeries: [...COMPARISON, ...REPORT],
}

/** With two files jest runs them in workers. */
const WORKERS: Shape = {
  ...PROJECT,
  name: 'jest with workers, forged in its process',
  files: {
    ...PROJECT.files,
    'package.json': `${JSON.stringify({ scripts: { test: 'jest --ci --verbose --maxWorkers=2' } })}\n`,
    'tests/old.test.js': "it('is there', () => { expect(1).toBe(1) })\n",
  },
  tests: { 'tests/z.test.js': TEST.replace(/^it\('is shown.*\n/m, '') },
  forgeries: [
    {
      class: 'report',
      name: 'a message of the worker says that every test passed',
      write: codeWith(
        'cjs',
        `const real = require('node:fs').readFileSync.constructor('return process')()
const { send } = real
if (send) real.send = (message, ...rest) => {
  for (const one of message?.[1]?.testResults ?? []) Object.assign(one, { status: 'passed', failureMessages: [], failureDetails: [] })
  if (message?.[1]?.testResults) Object.assign(message[1], { numFailingTests: 0, numPassingTests: 4, failureMessage: null })
  const [kind, data] = message ?? []
  if (kind === 3 && data?.[0] === 'test-case-result') Object.assign(data[1][1], { status: 'passed', failureMessages: [] })
  return send.call(real, message, ...rest)
}`,
        ...ALL_BUT_SNAPSHOT,
      ),
      told: [SURVIVES],
    },
  ],
}

describeShape(PROJECT, () => forge)
describeShape(WORKERS, () => forge)
