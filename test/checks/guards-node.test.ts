import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GUARDS_FOLDER } from '../../src/checks/observed-runs/test-guards.js'
import { type Project, runTests } from './guards-run.js'

// The implementation gives 0 for everything: only a trick turns these tests green.
const ESM_TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from '../src/add.mjs'
test('adds', () => assert.equal(add(2, 3), 5))
test('adds later', async () => { await null; assert.deepEqual({ sum: add(2, 0) }, { sum: 2 }) })
`
const CJS_TEST = `const { add } = require('../src/add.cjs')
const assert = require('assert/strict')
const { test } = require('node:test')
test('adds', () => assert.equal(add(2, 3), 5))
test('adds later', async () => { await null; assert.deepEqual({ sum: add(2, 0) }, { sum: 2 }) })
`
const MAJOR = Number(process.versions.node.split('.')[0])
const NOTHING = 'export const add = () => 0\n'
const PINNED = ['adds', 'adds later']

function esm(trick: string, test = ESM_TEST): Project {
  return {
    files: { 'tests/add.test.mjs': test, 'src/add.mjs': trick.includes('export') ? trick : `${trick}\n${NOTHING}` },
    argv: ['node', '--test', '--test-reporter=tap'],
    format: 'node',
    pinned: PINNED,
  }
}

function cjs(trick: string, test = CJS_TEST): Project {
  return {
    files: { 'tests/add.test.cjs': test, 'src/add.cjs': `${trick}\nexports.add = () => 0\n` },
    argv: ['node', '--test', '--test-reporter=tap'],
    format: 'node',
    pinned: PINNED,
  }
}

// Lets another process report the tests as passed, and writes what it wrote as if this one had.
const FORGED = `import fs from 'node:fs'
import { spawnSync } from 'node:child_process'
fs.writeFileSync('/tmp/forged-' + process.pid + '.mjs', "import { test } from 'node:test'; test('adds', () => {}); test('adds later', () => {})")
const forged = spawnSync(process.execPath, ['/tmp/forged-' + process.pid + '.mjs'], { env: { ...process.env, NODE_TEST_CONTEXT: 'child-v8' } }).stdout
fs.rmSync('/tmp/forged-' + process.pid + '.mjs')
`
const FORGED_CJS = FORGED.replace("import fs from 'node:fs'", "const fs = require('node:fs')").replace(
  "import { spawnSync } from 'node:child_process'",
  "const { spawnSync } = require('node:child_process')",
)

const SILENT = `for (const name of Object.keys(assert)) if (typeof assert[name] === 'function' && name !== 'AssertionError') assert[name] = () => {}`

interface Trick {
  readonly name: string
  readonly project: Project
  /** The last Node.js on which the trick works without the guard. */
  readonly until?: number
}

const TRICKS: readonly Trick[] = [
  {
    name: 'assertions replaced for everybody who imports them',
    project: esm(`import { createRequire, syncBuiltinESMExports } from 'node:module'
const assert = createRequire(import.meta.url)('node:assert/strict')
try { ${SILENT} } catch {}
syncBuiltinESMExports()`),
  },
  {
    name: 'assertions replaced through the default export',
    project: esm(`import assert from 'node:assert/strict'
for (const name of ['equal', 'deepEqual']) try { Object.defineProperty(assert, name, { value: () => {} }) } catch {}`),
  },
  {
    name: 'assertions replaced for files that are required later',
    project: cjs(`const assert = require('assert/strict'); ${SILENT}`),
  },
  {
    name: 'another module in the cache under the name of the assertions',
    project: cjs(`const fake = () => {}; fake.equal = fake.deepEqual = fake
require.cache['assert/strict'] = { exports: fake, loaded: true }`),
  },
  {
    name: 'another Module._load',
    project: cjs(`const Module = require('module'); const load = Module._load
Module._load = function (id, ...rest) { return id === 'assert/strict' ? { equal() {}, deepEqual() {} } : load.call(this, id, ...rest) }`),
  },
  {
    name: 'another require for every file',
    project: cjs(`const Module = require('module'); const load = Module.prototype.require
Module.prototype.require = function (id) { return id === 'assert/strict' ? { equal() {}, deepEqual() {} } : load.call(this, id) }`),
  },
  {
    name: 'another require for the test file alone',
    project: cjs(`const load = module.constructor.prototype.require
Object.defineProperty(require.main, 'require', { configurable: true, value: (id) => id === 'assert/strict' ? { equal() {}, deepEqual() {} } : load.call(require.main, id) })`),
  },
  {
    name: 'a test function that drops what it is given',
    project: cjs(`const runner = require('node:test'); const { test } = runner
runner.test = (name) => test(name, () => {})`),
  },
  {
    name: 'a method of the language that a condition asks replaced',
    project: esm(
      'Array.prototype.includes = Set.prototype.has = String.prototype.startsWith = () => true',
      `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from '../src/add.mjs'
test('adds', () => assert.ok([5].includes(add(2, 3))))
test('adds later', () => assert.ok(new Set([5]).has(add(2, 3)) && '5'.startsWith(String(add(2, 3)))))
`,
    ),
  },
  {
    name: 'a scope of async_hooks that does not run the test',
    project: esm(`import { AsyncResource } from 'node:async_hooks'
const run = AsyncResource.prototype.runInAsyncScope
try { AsyncResource.prototype.runInAsyncScope = function (fn, ...rest) { return this.constructor.name === 'Test' ? undefined : run.call(this, fn, ...rest) } } catch {}`),
  },
  {
    name: 'tests that are found by async_hooks and given another function',
    project: esm(`import { createHook } from 'node:async_hooks'
createHook({ init(id, type, trigger, resource) { if (resource?.constructor?.name === 'Test') queueMicrotask(() => { resource.fn = () => {} }) } }).enable()`),
  },
  {
    name: 'a setter on Object.prototype that takes the function of each test',
    project: esm(`try { Object.defineProperty(Object.prototype, 'fn', { configurable: true, set(fn) {
  Object.defineProperty(this, 'fn', { value: this.constructor?.name === 'Test' ? () => {} : fn, writable: true }) } }) } catch {}`),
  },
  {
    name: 'properties of Object.prototype that keep the results of each test',
    project: esm(`for (const [name, kept] of [['passed', true], ['error', null]])
  try { Object.defineProperty(Object.prototype, name, { configurable: true, get: () => kept, set(value) {
    if (this.constructor?.name !== 'Test') Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true }) } }) } catch {}`),
  },
  {
    name: 'a setter on Array.prototype that finds tests in the lists of the runner',
    project:
      esm(`for (const at of ['0', '1', '2']) Object.defineProperty(Array.prototype, at, { configurable: true, set(value) {
  if (value?.constructor?.name === 'Test') try { value.fn = () => {}; value.fail = function () { this.pass() } } catch {}
  Object.defineProperty(this, at, { value, writable: true, configurable: true, enumerable: true }) } })`),
  },
  {
    name: 'methods of the language that give out other assertions, and a loader that asks them',
    project: cjs(`const fake = { equal() {}, deepEqual() {} }
const get = Map.prototype.get
Map.prototype.get = function (key) { return key === 'assert/strict' ? fake : get.call(this, key) }
Reflect.apply = () => fake
const Module = require('module'); const load = Module._load
Module._load = (id, ...rest) => id === 'assert/strict' ? fake : load.call(Module, id, ...rest)`),
  },
  {
    name: 'forged results, a false main module and an error that somebody swallows',
    project: esm(`${FORGED}import Module from 'node:module'
fs.writeSync(1, forged)
process.mainModule = new Module('.')
Module._extensions['.mjs'] = () => {}
process.mainModule.load(process.argv[1])
process.argv[1] = '/dev/null'
String.prototype.startsWith = () => true
Promise.prototype.then = function (done) { done?.(); return this }
process.on('uncaughtException', () => {})
process.on('unhandledRejection', () => {})
process.exitCode = '0'
throw new Error('never seen')`),
  },
  {
    name: 'forged results and process.exit(0)',
    project: esm(`${FORGED}fs.writeSync(1, forged)
process.exit(0)`),
  },
  {
    name: 'forged results and process.reallyExit(0)',
    project: esm(`${FORGED}fs.writeSync(1, forged)
process.reallyExit(0)`),
  },
  {
    name: 'forged results by process.stdout and an exit from a listener',
    project: esm(`${FORGED}process.removeAllListeners()
process.stdout.write(forged, () => process.exit())
await new Promise(() => setInterval(() => {}, 1000))`),
  },
  {
    name: 'forged results and a test file that waits for ever with exit code 0',
    until: 20,
    project: esm(`${FORGED}fs.writeSync(1, forged)
process.exitCode = 0
await new Promise(() => {})`),
  },
  {
    name: 'forged results and an error that somebody swallows',
    project: cjs(`${FORGED_CJS}fs.writeSync(1, forged)
process.on('uncaughtException', () => {})
throw new Error('never seen')`),
  },
  {
    name: 'forged results and a swallowed error in a module',
    project: esm(`${FORGED}fs.writeSync(1, forged)
process.on('uncaughtException', () => {})
process.on('unhandledRejection', () => {})
throw new Error('never seen')`),
  },
  {
    name: 'forged results, an output that leads nowhere, and exit code 0 at the end',
    project: esm(`${FORGED}fs.writeSync(1, forged)
process.stdout.write = (chunk, ...rest) => { rest.at(-1)?.call?.(); return true }
process.on('exit', () => { process.exitCode = 0 })`),
  },
  {
    name: 'forged results, tests that never end and nobody who notices',
    project: esm(`${FORGED}fs.writeSync(1, forged)
process.stdout.write = (chunk, ...rest) => { rest.at(-1)?.call?.(); return true }
export const add = () => { process.removeAllListeners('beforeExit'); for (const s of ['uncaughtException']) process.removeAllListeners(s); throw { then() {} } }
process.on('exit', () => { process.exitCode = 0 })`),
  },
  {
    name: 'reports that are turned round on their way',
    until: 20,
    project: esm(`import { Readable } from 'node:stream'
const push = Readable.prototype.push
Readable.prototype.push = function (item, ...rest) {
  if (item?.type === 'test:fail') { item.type = 'test:pass'; delete item.data.details.error }
  return push.call(this, item, ...rest)
}
process.on('exit', () => { process.exitCode = 0 })`),
  },
  {
    name: 'the variables of the runner changed by an inspector',
    project: esm(`import { Session } from 'node:inspector'
import { test } from 'node:test'
const session = new Session()
const post = (method, params) => { let found; session.post(method, params, (error, result) => { found = result }); return found }
try {
  session.connect()
  globalThis.__fn = test
  const { result } = post('Runtime.evaluate', { expression: '__fn' })
  const scopes = post('Runtime.getProperties', { objectId: result.objectId }).internalProperties.find((one) => one.name === '[[Scopes]]')
  for (const scope of post('Runtime.getProperties', { objectId: scopes.value.objectId }).result)
    for (const one of post('Runtime.getProperties', { objectId: scope.value.objectId }).result)
      if (['Test', 'Factory'].includes(one.name)) post('Runtime.callFunctionOn', { objectId: one.value.objectId, functionDeclaration: 'function () { globalThis.__Test = this }' })
  const create = globalThis.__Test.prototype.createSubtest
  globalThis.__Test.prototype.fail = function () { this.pass() }
} catch {}`),
  },
]

describe('the guard of Node.js', () => {
  for (const { name, project, until = MAJOR } of TRICKS)
    it(`[REQ-GUARD-1] does not turn tests green: ${name}`, () => {
      const plain = runTests(project, 'plain')
      expect(plain.isGreen, `without the guard the trick works\n${plain.text}`).toBe(MAJOR <= until)
      const guarded = runTests(project, 'guarded')
      expect(guarded.isGreen, guarded.text).toBe(false)
      expect(guarded.exitCode).not.toBe(0)
    })
})

const HONEST: readonly { readonly name: string; readonly project: Project }[] = [
  {
    name: 'mocks of methods, functions and timers',
    project: honest(`import { mock, test } from 'node:test'
import assert from 'node:assert'
const clock = { now: () => 1 }
test('one', (t) => {
  t.mock.method(clock, 'now', () => 2)
  assert.equal(clock.now(), 2)
  const spy = mock.fn((a) => a + 1)
  assert.equal(spy(1), 2)
  assert.equal(spy.mock.calls.length, 1)
  t.mock.method(process, 'exit', () => 'not now')
  assert.equal(process.exit(3), 'not now')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let rang = false
  setTimeout(() => { rang = true }, 1000)
  t.mock.timers.tick(1000)
  assert.ok(rang)
})`),
  },
  {
    name: 'a program that a test starts and that ends with process.exit(0)',
    project: honest(
      `import { test } from 'node:test'
import assert from 'node:assert'
import { execFileSync, spawnSync } from 'node:child_process'
test('one', () => {
  assert.equal(execFileSync(process.execPath, ['cli.mjs'], { encoding: 'utf8' }), 'done')
  assert.equal(spawnSync(process.execPath, ['cli.mjs', '3']).status, 3)
  assert.equal(spawnSync(process.execPath, ['cli.mjs'], { env: {} }).status, 0)
})`,
      { 'cli.mjs': `process.stdout.write('done', () => process.exit(Number(process.argv[2] ?? 0)))` },
    ),
  },
  {
    name: 'own assertions, subclasses of errors, suites, hooks and waiting',
    project: honest(`import { after, before, beforeEach, describe, it, test } from 'node:test'
import assert, { AssertionError } from 'node:assert/strict'
class Wrong extends AssertionError { constructor(message) { super({ message }); this.name = 'Wrong'; this.extra = 1 } }
const even = (n) => { if (n % 2 !== 0) throw new Wrong('odd') }
test('one', async (t) => {
  assert.throws(() => even(1), { name: 'Wrong', extra: 1 })
  await assert.rejects(async () => even(3), Wrong)
  await t.test('inner', () => even(2))
})
describe('suite', () => {
  let made = 0
  before(() => { made = 1 })
  beforeEach(() => { made++ })
  after(async () => { await null })
  it('waits', async () => { await new Promise((done) => setTimeout(done, 5)); assert.equal(made, 2) })
})`),
  },
  {
    name: 'methods of the language looked up, borrowed and overridden',
    project: honest(`import { test } from 'node:test'
import assert from 'node:assert'
// As the package get-intrinsic does, which hundreds of others use.
const found = (object, name) => {
  const { get, value } = Object.getOwnPropertyDescriptor(object, name)
  return get === undefined ? value : 'originalValue' in get ? object[name] : get
}
class Words extends Array { includes(word) { return word === 'any' } }
test('one', () => {
  assert.equal(found(Map.prototype, 'get').call(new Map([[1, 2]]), 1), 2)
  assert.equal(found(Object.prototype, 'toString').call([]), '[object Array]')
  assert.ok(new Words().includes('any'))
  const list = [1]
  list.includes = () => 'own'
  assert.equal(list.includes(2), 'own')
  assert.ok(/a/.test('a') && 'ab'.startsWith('a') && [1, 2].every((n) => n > 0))
})`),
  },
  {
    name: 'an exit code that a test sets and takes back',
    project: honest(`import { test } from 'node:test'
import assert from 'node:assert'
test('one', () => { process.exitCode = 3; assert.equal(process.exitCode, 3); process.exitCode = undefined })`),
  },
  {
    name: 'worker threads, hooks of async_hooks and replaced listeners',
    project: honest(`import { test } from 'node:test'
import assert from 'node:assert'
import { Worker } from 'node:worker_threads'
import { createHook, AsyncLocalStorage } from 'node:async_hooks'
test('one', async () => {
  const worker = new Worker('process.exit(0)', { eval: true })
  assert.equal(await new Promise((done) => worker.on('exit', done)), 0)
  const kinds = new Set()
  const hook = createHook({ init(id, type) { kinds.add(type) } }).enable()
  await new Promise((done) => setTimeout(done, 1))
  hook.disable()
  assert.ok(kinds.has('Timeout'))
  const storage = new AsyncLocalStorage()
  assert.equal(await storage.run(4, async () => { await null; return storage.getStore() }), 4)
  const emit = process.emit
  process.emit = function (...args) { return emit.apply(this, args) }
  process.on('exit', () => undefined)
})`),
  },
  {
    name: 'options of the contract that load a file of the project first',
    project: {
      ...honest(
        `import { test } from 'node:test'
import assert from 'node:assert'
test('one', () => assert.equal(globalThis.prepared, true))`,
        { 'prepare.cjs': 'globalThis.prepared = true' },
      ),
      env: { NODE_OPTIONS: '--require ./prepare.cjs' },
    },
  },
  {
    name: 'a test file of CommonJS',
    project: {
      ...honest(''),
      files: {
        'tests/one.test.cjs': `const test = require('node:test'); const assert = require('node:assert')
test('one', (t, done) => setTimeout(() => { assert.ok(true); done() }, 5))`,
      },
    },
  },
]

function honest(test: string, more: Readonly<Record<string, string>> = {}): Project {
  return {
    files: { 'tests/one.test.mjs': test, ...more },
    argv: ['node', '--test', '--test-reporter=tap'],
    format: 'node',
    pinned: ['one'],
  }
}

describe('honest tests of node:test', () => {
  for (const { name, project } of HONEST)
    it(`[REQ-GUARD-2] stay green: ${name}`, () => {
      const guarded = runTests(project, 'guarded')
      expect(guarded.isGreen, guarded.text).toBe(true)
    })

  it('[REQ-GUARD-2] a missing module is still reported as one', () => {
    const guarded = runTests({ ...esm(''), files: { 'tests/add.test.mjs': ESM_TEST } }, 'guarded')
    expect(guarded.isGreen).toBe(false)
    expect(guarded.text).toContain('ERR_MODULE_NOT_FOUND')
  })

  // As Node.js 24 does: it repeats the options of the runner in the arguments of each test file.
  it('[REQ-GUARD-2] a guard that is named twice holds once, and neither name is left', () => {
    const folder = mkdtempSync(join(tmpdir(), 'phaselock-twice-'))
    const file = join(folder, 'one.test.mjs')
    const seen = 'JSON.stringify([process.execArgv, process.env.NODE_OPTIONS ?? null, Object.isFrozen(assert)])'
    writeFileSync(
      file,
      `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\ntest('one', () => console.error(${seen}))\n`,
    )
    const guard = join(GUARDS_FOLDER, 'node/guard.cjs')
    const env = { ...process.env, NODE_TEST_CONTEXT: 'child', NODE_OPTIONS: `--require "${guard}"` }
    // Files that are younger than the parent of the run are refused.
    const line = `sleep 0.1; "${process.execPath}" "--require=${guard}" "${file}"; exit $?`
    const ran = spawnSync('sh', ['-c', line], { env, encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect(ran, ran.stdout).toMatchObject({ status: 0, stderr: '[[],null,true]\n' })
  })
})
