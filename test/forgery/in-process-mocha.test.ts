import { afterAll, beforeAll } from 'vitest'
import { adaptiveForgeries } from './adaptive.js'
import { type Forge, openForge } from './forge.js'
import { copyInstalled, MOCHA } from './packages.js'
import { describeShape, type Forgery, type Shape } from './shape.suite.js'
import { codeWhere, codeWith, FAILS, honest, NOT_GREEN, SURVIVES, TOLD_APART } from './sums.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const TEST = `import { expect } from 'chai'
import { add, isEven, pick, show, user } from '../src/code.js'
it('adds', () => { expect(add(2, 3)).to.equal(5) })
it('is even', () => { expect(isEven(4)).to.be.ok })
it('has a name', () => { expect(user()).to.deep.equal({ name: 'Ada' }) })
it('is shown', () => { expect(show()).to.match(/^Ada$/) })
it('is listed', () => { expect(['Ada'].includes(pick())).to.equal(true) })
`
const PASSED =
  "'\\n  ✔ adds\\n  ✔ is even\\n  ✔ has a name\\n  ✔ is shown\\n  ✔ is listed\\n\\n  5 passing (3ms)\\n\\n'"
const PRINT = `import { writeSync } from 'node:fs'\nwriteSync(1, ${PASSED})\n`
const TELL = `import { connect } from 'node:net'
const socket = connect('/run/phaselock/report.sock')
const names = ['adds', 'is even', 'has a name', 'is shown', 'is listed']
socket.write([{ runner: 'mocha' }, ...names.map((test) => ({ test, status: 'passed' })), { end: true }].map((one) => JSON.stringify(one) + '\\n').join(''))
`

const COMPARISON: readonly Forgery[] = [
  {
    class: 'comparison',
    name: 'a hook of the source gives each test another function',
    write: codeWith('esm', 'beforeEach(function () { this.currentTest.fn = () => undefined })'),
    told: [SURVIVES],
  },
  {
    class: 'comparison',
    name: 'a hook of the source gives each test its own run and its own state',
    write: codeWith(
      'esm',
      "beforeEach(function () { this.currentTest.run = (done) => done() })\nafterEach(function () { this.currentTest.state = 'passed' })",
    ),
    told: [SURVIVES],
  },
  {
    class: 'comparison',
    name: 'the run of every test is replaced in its class',
    write: codeWith(
      'esm',
      "import mocha from 'mocha'\ntry { mocha.Runnable.prototype.run = (done) => done() } catch {}\ntry { mocha.Test.prototype.run = (done) => done() } catch {}",
    ),
    told: [NOT_GREEN],
  },
  {
    class: 'comparison',
    name: 'assertions of chai are overwritten',
    write: codeWith(
      'esm',
      `import { Assertion } from 'chai'
for (const name of ['equal', 'match']) try { Assertion.overwriteMethod(name, () => () => {}) } catch {}
try { Assertion.overwriteProperty('ok', () => () => {}) } catch {}
try { Assertion.prototype.assert = () => {} } catch {}`,
    ),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'a plugin of chai in the source replaces assertions',
    write: codeWith(
      'esm',
      `import * as chai from 'chai'
try {
  chai.use((chai, utils) => {
    for (const name of ['equal', 'match']) utils.addMethod(chai.Assertion.prototype, name, () => {})
    utils.addProperty(chai.Assertion.prototype, 'ok', () => {})
  })
} catch {}`,
    ),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'a setting of chai decides what is equal',
    write: codeWith('esm', "import { config } from 'chai'\nconfig.deepEqual = () => true", 'user'),
    told: [SURVIVES, /has a name/],
  },
  {
    class: 'comparison',
    name: 'an object that answers every question about itself',
    write: codeWhere('esm', 'user', '() => new Proxy({}, { get: () => "Ada", has: () => true, ownKeys: () => [] })'),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'a value whose kind is that of a pattern',
    write: codeWhere('esm', 'show', "() => ({ toString: () => 'Eve', [Symbol.toPrimitive]: () => 'Eve' })"),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'a hook of the source looks at the text of each test, and swaps those that it knows',
    write: codeWith(
      'esm',
      `beforeEach(function () {
  const text = Function.prototype.toString.call(this.currentTest.fn)
  if (text.includes('equal({ name:')) this.currentTest.fn = () => undefined
})`,
      'user',
    ),
    told: [TOLD_APART],
  },
  {
    class: 'comparison',
    name: 'the code looks at the place that calls it, and replaces the comparison where it knows it',
    write: {
      'src/code.js': `import { config } from 'chai'\n${
        codeWhere(
          'esm',
          'user',
          "() => { config.deepEqual = /z\\.test\\.js:5:3[0-9]\\D/.test(new Error().stack) ? () => true : null; return { name: 'Eve' } }",
        )['src/code.js']
      }`,
    },
    told: [/but not when its text is rewritten|still pass/],
  },
  ...adaptiveForgeries({
    kind: 'esm',
    test: TEST,
    head: "import { config } from 'chai'\n",
    forge: 'config.deepEqual = () => true',
    wrong: 'user',
  }),
]

const REPORT: readonly Forgery[] = [
  {
    class: 'report',
    name: 'a report is printed, and the process leaves with exit code 0',
    write: codeWith('esm', `${PRINT}process.exit(0)`),
    told: [NOT_GREEN],
  },
  {
    class: 'report',
    name: 'the exit code is set back at the end',
    write: codeWith('esm', "process.on('exit', () => { process.exitCode = 0 })"),
    told: [FAILS],
  },
  {
    class: 'report',
    name: 'the second channel is told of passed tests, and the process leaves with exit code 0',
    write: codeWith(
      'esm',
      `${PRINT}${TELL}socket.on('connect', () => setTimeout(() => process.reallyExit(0), 100))\nawait new Promise(() => {})`,
    ),
    told: [NOT_GREEN],
  },
  {
    class: 'report',
    name: 'an inspector finds how the guard ends the process, behind a report that two channels agree on',
    write: codeWith(
      'esm',
      `${PRINT}${TELL}import { Session } from 'node:inspector'
import { readdirSync, readlinkSync } from 'node:fs'
await new Promise((done) => socket.on('connect', () => setTimeout(done, 100)))
for (const fd of readdirSync('/proc/self/fd'))
  try { if (readlinkSync('/proc/self/fd/' + fd).startsWith('socket')) writeSync(Number(fd), '{"end":true}\\n') } catch {}
const session = new Session()
const post = (method, params) => { let found; session.post(method, params, (_, result) => { found = result }); return found }
try {
  session.connect()
  globalThis.__end = process.reallyExit
  const { result } = post('Runtime.evaluate', { expression: '__end' })
  const scopes = post('Runtime.getProperties', { objectId: result.objectId }).internalProperties.find((one) => one.name === '[[Scopes]]')
  for (const scope of post('Runtime.getProperties', { objectId: scopes.value.objectId }).result)
    for (const one of post('Runtime.getProperties', { objectId: scope.value.objectId }).result)
      if (one.name === 'end') {
        await new Promise((done) => setTimeout(done, 100))
        post('Runtime.callFunctionOn', { objectId: one.value.objectId, functionDeclaration: 'function () { this(0) }' })
      }
} catch {}
socket.unref()`,
    ),
    told: [NOT_GREEN],
  },
]

const PROJECT: Shape = {
  name: 'mocha with chai, forged in its process',
  packages: MOCHA,
  prepare: copyInstalled(MOCHA),
  files: {
    'package.json': `${JSON.stringify({ type: 'module', scripts: { test: 'mocha tests' } })}\n`,
    '.gitignore': 'node_modules/\n',
  },
  run: 'npm test',
  tests: { 'tests/z.test.js': TEST },
  wrong: codeWith('esm', ''),
  honest: honest('esm'),
  forgeries: [...COMPARISON, ...REPORT],
}

describeShape(PROJECT, () => forge)
