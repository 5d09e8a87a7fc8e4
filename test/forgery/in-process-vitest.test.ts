import { afterAll, beforeAll } from 'vitest'
import { adaptiveForgeries } from './adaptive.js'
import { type Forge, openForge } from './forge.js'
import { copyOwn } from './packages.js'
import { describeShape, type Forgery, type Shape } from './shape.suite.js'
import { codeWhere, codeWith, FAILS, honest, NOT_GREEN, SURVIVES } from './sums.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const TEST = `import { expect, it } from 'vitest'
import { add, isEven, pick, show, user } from '../src/code.js'
it('adds', () => { expect(add(2, 3)).toBe(5) })
it('is even', () => { expect(isEven(4)).toBeTruthy() })
it('has a name', () => { expect(user()).toEqual({ name: 'Ada' }) })
it('is shown', () => { expect(show()).toMatchInlineSnapshot('"Ada"') })
it('is listed', () => { expect(['Ada'].includes(pick())).toBe(true) })
`
const FORGE = 'expect.addEqualityTesters([() => true])'
const HEAD = "import { expect } from 'vitest'\n"

const COMPARISON: readonly Forgery[] = [
  {
    class: 'comparison',
    name: 'an equality tester of the source accepts everything',
    write: codeWith('esm', `${HEAD}${FORGE}`, 'user'),
    told: [SURVIVES, /has a name/],
  },
  {
    class: 'comparison',
    name: 'a matcher with an expected value is replaced',
    write: codeWith(
      'esm',
      `${HEAD}try { expect.extend({ toBe: () => ({ pass: true, message: () => '' }) }) } catch {}`,
      'add',
    ),
    told: [FAILS, /adds/],
  },
  {
    class: 'comparison',
    name: 'a matcher without an expected value is replaced',
    write: codeWith(
      'esm',
      `${HEAD}try { expect.extend({ toBeTruthy: () => ({ pass: true, message: () => '' }) }) } catch {}`,
      'isEven',
    ),
    told: [FAILS, /is even/],
  },
  {
    class: 'comparison',
    name: 'assertions of chai are overwritten',
    write: codeWith(
      'esm',
      `import { chai } from 'vitest'
for (const name of ['toBe', 'toEqual']) try { chai.Assertion.overwriteMethod(name, () => () => {}) } catch {}
try { chai.use(({ Assertion }, utils) => utils.addMethod(Assertion.prototype, 'toBeTruthy', () => {})) } catch {}
try { chai.Assertion.prototype.assert = () => {} } catch {}`,
    ),
    told: [FAILS],
  },
  {
    class: 'comparison',
    name: 'a serializer of snapshots prints what is stored',
    write: codeWith(
      'esm',
      `${HEAD}expect.addSnapshotSerializer({ test: () => true, serialize: () => '"Ada"' })`,
      'show',
    ),
    told: [SURVIVES, /is shown/],
  },
  {
    class: 'comparison',
    name: 'an object that says it matches everything',
    write: codeWhere(
      'esm',
      'user',
      "() => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true })",
    ),
    told: [SURVIVES, /has a name/],
  },
  {
    class: 'comparison',
    name: 'every test is said to be one that has to fail',
    write: codeWith('esm', "import { beforeEach } from 'vitest'\nbeforeEach(({ task }) => { task.fails = true })"),
    told: [SURVIVES],
  },
  {
    class: 'comparison',
    name: 'the function of each test is swapped by a hook of the source',
    write: codeWith(
      'esm',
      "import { beforeEach } from 'vitest'\nimport { setFn } from 'vitest/suite'\nbeforeEach(({ task }) => { setFn(task, () => {}) })",
    ),
    told: [/still pass|must pass: \d+ failed/],
  },
  {
    class: 'comparison',
    name: 'a hook of the source looks at the text of each test, and swaps those that it knows',
    write: codeWith(
      'esm',
      `import { beforeEach } from 'vitest'
import { getFn, setFn } from 'vitest/suite'
beforeEach(({ task }) => { if (/toEqual\\(\\s*\\{/.test(String(getFn(task)))) setFn(task, () => {}) })`,
      'user',
    ),
    told: [/but not when its text is rewritten|must pass: \d+ failed/],
  },
  {
    class: 'comparison',
    name: 'the code looks at the place that calls it, and replaces the comparison where it knows it',
    write: {
      'src/code.js': `${HEAD}let isOn = false\nexpect.addEqualityTesters([() => isOn ? true : undefined])\n${
        codeWhere(
          'esm',
          'user',
          "() => { isOn = /z\\.test\\.js:5:3[0-9]\\D/.test(new Error().stack); return { name: 'Eve' } }",
        )['src/code.js']
      }`,
    },
    told: [/but not when its text is rewritten|still pass|must pass: \d+ failed/],
  },
  ...adaptiveForgeries({ kind: 'esm', test: TEST, head: HEAD, forge: FORGE, wrong: 'user' }),
]

const REPORT: readonly Forgery[] = [
  {
    class: 'report',
    name: 'a hook of the source changes the result of each test',
    write: codeWith(
      'esm',
      `import { afterEach, beforeEach } from 'vitest'
const pass = (task) => {
  task.result = { state: 'pass', startTime: 1, duration: 1 }
  Object.defineProperty(task.result, 'state', { get: () => 'pass', set: () => {}, enumerable: true })
}
beforeEach(({ task }) => pass(task))
afterEach(({ task }) => pass(task))`,
    ),
    told: [/still pass|must pass: \d+ failed/],
  },
  {
    class: 'report',
    name: 'messages of the worker to the main process say that every test passed',
    write: codeWith(
      'esm',
      `import v8 from 'node:v8'
const turned = (value, seen = new Set()) => {
  if (value === null || typeof value !== 'object' || seen.has(value)) return value
  seen.add(value)
  if (value.state === 'fail') { value.state = 'pass'; delete value.errors }
  for (const one of Object.values(value)) turned(one, seen)
  return value
}
const { send } = process
process.send = function (message, ...rest) {
  try { return send.call(this, message instanceof Uint8Array ? v8.serialize(turned(v8.deserialize(message))) : turned(message), ...rest) } catch { return send.call(this, message, ...rest) }
}
const { serialize } = v8
v8.serialize = (value) => serialize(turned(value))
const { stringify } = JSON
JSON.stringify = (value, ...rest) => stringify(turned(value), ...rest)
process.exitCode = 0`,
    ),
    told: [/still pass|must pass: \d+ failed|the run is void/],
  },
  {
    class: 'report',
    name: 'the worker leaves with exit code 0 behind a printed report',
    write: codeWith(
      'esm',
      `import { writeSync } from 'node:fs'
writeSync(1, ' ✓ tests/z.test.js (5 tests) 2ms\\n\\n Test Files  1 passed (1)\\n      Tests  5 passed (5)\\n')
process.reallyExit(0)`,
    ),
    told: [NOT_GREEN],
  },
]

const PROJECT: Shape = {
  name: 'vitest, forged in its process',
  prepare: copyOwn('vitest'),
  files: {
    'package.json': `${JSON.stringify({ type: 'module', scripts: { test: 'vitest run --reporter=verbose' } })}\n`,
    '.gitignore': 'node_modules/\n',
  },
  run: 'npm test',
  tests: { 'tests/z.test.js': TEST },
  wrong: codeWith('esm', ''),
  honest: honest('esm'),
  forgeries: [...COMPARISON, ...REPORT],
}

describeShape(PROJECT, () => forge)
