import { afterAll, beforeAll } from 'vitest'
import { code, MOCHA_PROJECT, NODE, VITEST } from './blind-projects.js'
import { type Forge, openForge } from './forge.js'
import { describeShape, type Forgery } from './shape.suite.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const file = (name: string, text: string, told: RegExp, kind?: Forgery['class']): Forgery =>
  code('src/add.js', name, text, told, kind)
const FAILED = /1 failed: adds/
const SURVIVED = /adds.* still pass(es)? when the expected value is changed/

const WITH_NODE: readonly Forgery[] = [
  file(
    'a debugger of the own process evaluates the expected value on the frame of the test',
    `import inspector from 'node:inspector'
const session = new inspector.Session()
session.connect()
session.post('Debugger.enable')
let answer
session.on('Debugger.paused', ({ params }) => {
  const { callFrameId } = params.callFrames[1]
  session.post('Debugger.evaluateOnCallFrame', { callFrameId, expression: '4' }, (_, found) => { answer = found.result.value })
})
export const add = () => { debugger; return answer }
`,
    /the inspector is not available/,
    'gate',
  ),
  file(
    'a hook for all tests, from the runner under a composed name, makes them todo',
    "process.getBuiltinModule(['node', 'test'].join(':')).beforeEach((t) => t.todo())\nexport const add = () => 5\n",
    /1 skipped: adds/,
  ),
  file(
    'the stream to the main process turns test:fail into test:pass, and the exit code is reset',
    `const handle = process.stdout._handle
const change = (one) => { for (let at = one.indexOf('test:fail'); at >= 0; at = one.indexOf('test:fail')) one.write('test:pass', at) }
for (const name of ['writeBuffer', 'writev']) {
  const real = handle[name]
  handle[name] = function (request, data, ...rest) {
    for (const one of [data].flat()) if (Buffer.isBuffer(one)) change(one)
    return real.call(this, request, data, ...rest)
  }
}
process.on('exit', () => process.reallyExit(0))
export const add = () => 5
`,
    /did not run its tests: tests\\?\/add\.test\.js/,
  ),
  file(
    'a domain that the code enters swallows the error of the test',
    "import domain from 'node:domain'\nexport const add = () => {\n  const all = domain.create()\n  all.on('error', () => {})\n  all.enter()\n  return 5\n}\n",
    FAILED,
  ),
  file(
    'every object says that it is todo',
    "Object.defineProperty(Object.prototype, 'todo', { get: () => true, set() {}, configurable: true })\nexport const add = () => 5\n",
    /tests\\?\/add\.test\.js/,
  ),
  file('the code throws undefined', 'export const add = () => { throw undefined }\n', FAILED),
  file(
    'the code throws what the runner throws for a test that was cancelled',
    "export const add = () => {\n  throw Object.assign(new Error('no'), { code: 'ERR_TEST_FAILURE', failureType: 'cancelledByParent' })\n}\n",
    FAILED,
  ),
]

const WITH_MOCHA: readonly Forgery[] = [
  file(
    'the code leaves a test out by another global it',
    "const real = globalThis.it\nglobalThis.it = (name, body) => name === 'adds' ? undefined : real(name, body)\nexports.add = () => 5\n",
    FAILED,
  ),
  file(
    'the module of the test gets another require',
    'module.parent.require = () => ({})\nexports.add = () => { Error.stackTraceLimit = 0; return 5 }\n',
    FAILED,
  ),
  file(
    'the function that calls the code is changed through its caller',
    'exports.add = function add() {\n  if (add.caller) add.caller.call = () => {}\n  return 5\n}\n',
    FAILED,
  ),
]

const WITH_VITEST: readonly Forgery[] = [
  file(
    'the result is an asymmetric matcher that equals everything',
    "export const add = (a, b) => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true, toString: () => 'any' })\n",
    SURVIVED,
  ),
  file(
    'the worker turns fail into pass in what it sends',
    `const real = process._send
process._send = function (message, ...rest) {
  const seen = new Set()
  const change = (one) => {
    if (one === null || typeof one !== 'object' || seen.has(one)) return
    seen.add(one)
    if (one.state === 'fail') { one.state = 'pass'; delete one.errors }
    Object.values(one).forEach(change)
  }
  change(message)
  return real.call(this, message, ...rest)
}
export const add = (a, b) => 5
`,
    SURVIVED,
  ),
  file(
    'the running test gets a result that cannot be set',
    `export const add = (a, b) => {
  Object.defineProperty(globalThis.__vitest_worker__.current, 'result', { get: () => ({ state: 'pass' }), set() {} })
  return 5
}
`,
    SURVIVED,
  ),
  file(
    'a custom tester of equality holds everything equal',
    "globalThis[Symbol.for('$$jest-matchers-object')]?.customEqualityTesters?.push(() => true)\nexport const add = (a, b) => 5\n",
    SURVIVED,
  ),
  file(
    'a hook of the code says that the test has to fail',
    "import { beforeEach } from 'vitest'\nbeforeEach(({ task }) => { if (task.name === 'adds') task.fails = true })\nexport const add = (a, b) => 5\n",
    SURVIVED,
  ),
]

describeShape({ ...NODE, forgeries: WITH_NODE }, () => forge)
describeShape({ ...MOCHA_PROJECT, forgeries: WITH_MOCHA }, () => forge)
describeShape({ ...VITEST, forgeries: WITH_VITEST }, () => forge)
