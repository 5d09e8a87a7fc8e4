import { afterAll, beforeAll } from 'vitest'
import { adaptiveForgeries } from './adaptive.js'
import { type Forge, openForge } from './forge.js'
import { describeShape, type Forgery, type Shape } from './shape.suite.js'
import { codeWhere, codeWith, FAILS, honest, NOT_GREEN } from './sums.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const HEAD =
  "import assert from 'node:assert/strict'\nimport loose from 'node:assert'\nimport { test } from 'node:test'\n"
const TEST = `${HEAD}import { add, isEven, pick, show, user } from '../src/code.js'
test('adds', () => assert.equal(add(2, 3), 5))
test('is even', () => assert.ok(isEven(4)))
test('has a name', () => loose.deepEqual(user(), { name: 'Ada' }))
test('is shown', () => loose.equal(show(), 'Ada'))
test('is listed', () => assert.ok(['Ada'].find((one) => one === pick())))
`
/** It works in spite of the guard: not all that tests ask beside assertions is locked. */
const FORGE = "Array.prototype.find = () => 'Ada'"
const FORGED = 'ok 1 - adds\\n1..1\\n# tests 1\\n# pass 1\\n# fail 0\\n'
// Finds the folder of the guard as any code can: by stack traces, variables and the file system.
const FIND_GUARD = `import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const [, folder] = /--require "?([^" \\0]*)\\/guard\\.cjs/.exec(readFileSync('/proc/self/environ', 'utf8')) ?? []
`

const COMPARISON: readonly Forgery[] = [
  {
    class: 'comparison',
    name: 'assertions of Node.js are replaced',
    write: codeWith(
      'esm',
      `import assert from 'node:assert'
for (const one of [assert, assert.strict]) for (const name of Object.keys(one)) try { one[name] = () => {} } catch {}`,
    ),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'the error of assertions is replaced by one that is never thrown',
    write: codeWith(
      'esm',
      `import assert from 'node:assert'
for (const one of [assert, assert.strict]) {
  try { one.AssertionError = class { constructor() { return undefined } } } catch {}
  try { Object.defineProperty(one.AssertionError, Symbol.hasInstance, { value: () => false }) } catch {}
  try { Object.defineProperty(one.AssertionError.prototype, 'message', { get() { process.exit(0) } }) } catch {}
}`,
    ),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'methods of the language that conditions of tests ask are replaced',
    write: codeWith('esm', 'Array.prototype.includes = Array.prototype.every = () => true', 'user'),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'an object whose value changes with every question',
    write: codeWhere(
      'esm',
      'show',
      "() => { let asked = 0; return { [Symbol.toPrimitive]: () => (asked++ === 0 ? 'Eve' : 'Ada'), valueOf: () => 'Ada' } }",
    ),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'an object that answers every question about itself',
    write: codeWhere(
      'esm',
      'user',
      `() => {
  const any = new Proxy(function () {}, { get: (_, key) => (key === Symbol.toPrimitive ? () => 'Eve' : any), has: () => true })
  return new Proxy({ name: any }, { get: () => any, has: () => true })
}`,
    ),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'functions of the test runner are patched',
    write: codeWith(
      'esm',
      `import { createRequire, syncBuiltinESMExports } from 'node:module'
const runner = createRequire(import.meta.url)('node:test')
const { test } = runner
for (const name of ['test', 'it', 'default']) try { runner[name] = (title) => test(title, () => {}) } catch {}
syncBuiltinESMExports()`,
    ),
    told: [/did not run its tests/, /Left out of the run.*src\/code\.js/],
  },
  {
    class: 'comparison',
    name: 'hooks of the test runner that the source adds end the test before its function',
    write: codeWith(
      'esm',
      `import { beforeEach } from 'node:test'
beforeEach((t) => { t.skip?.(); t.todo?.('later') })`,
    ),
    told: [/did not run its tests/, /Left out of the run.*src\/code\.js/],
  },
]

const REPORT: readonly Forgery[] = [
  {
    class: 'report',
    name: 'results are printed as TAP, and the process leaves with exit code 0',
    write: codeWith('esm', `import { writeSync } from 'node:fs'\nwriteSync(1, '${FORGED}')\nprocess.exit(0)`),
    told: [NOT_GREEN],
  },
  {
    class: 'report',
    name: 'the messages of a test file to the main process are forged, and its own are kept back',
    write: codeWith(
      'esm',
      `import { spawnSync } from 'node:child_process'
import { writeFileSync, writeSync } from 'node:fs'
const names = ['adds', 'is even', 'has a name', 'is shown', 'is listed']
writeFileSync('/tmp/forged.mjs', "import { test } from 'node:test'\\n" + names.map((name) => 'test("' + name + '", () => {})').join('\\n'))
const { stdout } = spawnSync(process.execPath, ['/tmp/forged.mjs'], { env: { ...process.env, NODE_TEST_CONTEXT: 'child-v8' } })
writeSync(1, stdout)
process.stdout.write = (chunk, ...rest) => { rest.at(-1)?.call?.(); return true }
process.on('exit', () => { process.exitCode = 0 })`,
    ),
    told: [NOT_GREEN],
  },
  {
    class: 'report',
    name: 'the exit code is set back whenever somebody asks for it',
    write: codeWith(
      'esm',
      `for (const event of ['exit', 'beforeExit']) process.on(event, () => { process.exitCode = 0 })
try { Object.defineProperty(process, 'exitCode', { get: () => 0, set: () => {} }) } catch {}`,
    ),
    told: [FAILS],
  },
  {
    class: 'report',
    name: 'the guard is loaded once more, and its channel tells that all tests passed',
    write: codeWith(
      'esm',
      `${FIND_GUARD}delete process.env.NODE_TEST_CONTEXT
try {
  const channel = require(folder + '/channel.cjs').openChannel('node')
  for (const name of ['adds', 'is even', 'has a name', 'is shown', 'is listed']) channel.test(name, 'passed')
  channel.end()
} catch {}
process.on('exit', () => { process.exitCode = 0 })`,
    ),
    told: [NOT_GREEN],
  },
  {
    class: 'report',
    name: 'functions of the guard are taken from stack traces and its modules from the cache',
    write: codeWith(
      'esm',
      `${FIND_GUARD}const found = []
Error.prepareStackTrace = (_, sites) => { for (const site of sites) found.push(site.getFunction(), site.getThis()); return '' }
for (const [file, module] of Object.entries(require.cache)) if (file.startsWith(String(folder))) found.push(module.exports)
process.on('exit', () => {
  void new Error('look').stack
  for (const one of found) {
    if (one?.seen) one.seen.failed = 0
    if (typeof one === 'function' && one !== process.exit) try { one(0) } catch {}
  }
  process.exitCode = 0
})
process.emit('exit', 0)`,
    ),
    told: [NOT_GREEN],
  },
  {
    class: 'report',
    name: 'an inspector looks for the variables of the guard',
    write: codeWith(
      'esm',
      `import { Session } from 'node:inspector'
const session = new Session()
try {
  session.connect()
  globalThis.__end = process.reallyExit
  session.post('Runtime.evaluate', { expression: '__end' }, (_, { result }) =>
    session.post('Runtime.getProperties', { objectId: result.objectId }, (_, { internalProperties }) => process.exit(0)))
} catch { process.exitCode = 0 }`,
    ),
    told: [NOT_GREEN],
  },
  {
    class: 'report',
    name: 'a process that outlives the test file prints results later',
    write: codeWith(
      'esm',
      `import { spawn } from 'node:child_process'
spawn('sh', ['-c', 'sleep 1; printf "%b" "$0"', '${FORGED}'], { detached: true, stdio: 'inherit' }).unref()`,
    ),
    told: [NOT_GREEN],
  },
]

const PROJECT: Shape = {
  name: 'node:test, forged in its process',
  files: {
    'package.json': `${JSON.stringify({ type: 'module', scripts: { test: 'node --test --test-reporter=tap tests/' } })}\n`,
  },
  run: 'npm test',
  tests: { 'tests/z.test.js': TEST },
  wrong: codeWith('esm', ''),
  honest: honest('esm'),
  forgeries: [...COMPARISON, ...REPORT, ...adaptiveForgeries({ kind: 'esm', test: TEST, forge: FORGE, wrong: 'pick' })],
}

describeShape(PROJECT, () => forge)
