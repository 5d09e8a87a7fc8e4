import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installed } from '../mcp/packages.js'
import { type Project, runTests } from './guards-run.js'

const OWN_PACKAGES = new URL('../../node_modules', import.meta.url).pathname
// Mocha is no dependency: it is installed for these tests, which are skipped where it cannot be had.
const FOUND = installed('mocha', ['mocha@11', 'chai@5'])
const MOCHA_PACKAGES = FOUND.ok ? join(FOUND.dir, 'node_modules') : ''
const HAS_MOCHA = FOUND.ok

function vitest(trick: string, test: string, pool = 'forks'): Project {
  return {
    files: { 'package.json': '{"type":"module"}', 'tests/add.test.js': test, 'src/add.js': trick },
    argv: ['node', 'node_modules/vitest/vitest.mjs', 'run', '--reporter=verbose', `--pool=${pool}`, '--no-color'],
    format: 'vitest',
    pinned: ['tests/add.test.js > adds'],
    packages: OWN_PACKAGES,
  }
}

const VITEST = `import { expect, it } from 'vitest'
import { add } from '../src/add.js'
it('adds', () => { expect(add(2, 3)).toBe(5) })
`
const VITEST_ASSERT = `import assert from 'node:assert'
import { it } from 'vitest'
import { add } from '../src/add.js'
it('adds', () => assert.equal(add(2, 3), 5))
`
const NOTHING = 'export const add = () => 0\n'

const VITEST_TRICKS: readonly { readonly name: string; readonly project: Project }[] = [
  {
    name: 'a matcher replaced by expect.extend',
    project: vitest(
      `import { expect } from 'vitest'\ntry { expect.extend({ toBe: () => ({ pass: true }) }) } catch {}\n${NOTHING}`,
      VITEST,
    ),
  },
  {
    name: 'a matcher replaced in the prototype of chai',
    project: vitest(
      `import { chai } from 'vitest'\ntry { chai.Assertion.prototype.toBe = () => {} } catch {}\n${NOTHING}`,
      VITEST,
    ),
  },
  {
    name: 'a matcher replaced in a thread',
    project: vitest(
      `import { chai } from 'vitest'\ntry { chai.util.addMethod(chai.Assertion.prototype, 'toBe', () => {}) } catch {}\n${NOTHING}`,
      VITEST,
      'threads',
    ),
  },
  {
    name: 'what is equal decided by the project',
    project: vitest(`Object.is = () => true\n${NOTHING}`, VITEST),
  },
  {
    name: 'what is equal decided by the project, through a mock',
    project: vitest(
      `import { vi } from 'vitest'\ntry { vi.spyOn(Object, 'is').mockReturnValue(true) } catch {}\n${NOTHING}`,
      VITEST,
      'threads',
    ),
  },
  {
    name: 'kinds of values decided by the project',
    project: vitest(
      `Object.prototype.toString = () => '[object Date]'\nexport const add = () => ({ sum: 0 })\n`,
      VITEST.replace('toBe(5)', 'toEqual({ sum: 5 })'),
    ),
  },
  {
    name: 'how functions are called decided by the project',
    project: vitest(
      `const { call } = Function.prototype
const { toString } = Object.prototype
Function.prototype.call = function (self, ...rest) {
  return this === toString ? '[object Date]' : Reflect.apply(call, this, [self, ...rest])
}
export const add = () => ({ sum: 0 })\n`,
      VITEST.replace('toBe(5)', 'toEqual({ sum: 5 })'),
    ),
  },
  {
    name: 'assertions of Node.js replaced',
    project: vitest(
      `import assert from 'node:assert'\ntry { assert.equal = () => {} } catch {}\n${NOTHING}`,
      VITEST_ASSERT,
    ),
  },
]

function mocha(trick: string, test = MOCHA): Project {
  return {
    files: { 'package.json': '{"type":"module"}', 'tests/add.spec.js': test, 'src/add.js': trick },
    argv: ['node', 'node_modules/mocha/bin/mocha.js', 'tests/*.spec.js'],
    format: 'mocha',
    pinned: ['adding > adds'],
    packages: MOCHA_PACKAGES,
  }
}

const MOCHA = `import { expect } from 'chai'
import { add } from '../src/add.js'
describe('adding', () => { it('adds', () => { expect(add(2, 3)).to.equal(5) }) })
`
const FORGED = `import fs from 'node:fs'
fs.writeSync(1, '\\n\\n  adding\\n    \\u2714 adds\\n\\n\\n  1 passing (3ms)\\n\\n')
`
const MOCHA_TRICKS: readonly { readonly name: string; readonly project: Project }[] = [
  {
    name: 'an assertion replaced in the prototype of chai',
    project: mocha(
      `import { Assertion } from 'chai'\ntry { Assertion.prototype.equal = () => {} } catch {}\n${NOTHING}`,
    ),
  },
  {
    name: 'an assertion overwritten by a plugin of the project',
    project: mocha(
      `import * as chai from 'chai'\ntry { chai.use(({ Assertion }) => Assertion.overwriteMethod('equal', () => () => {})) } catch {}\n${NOTHING}`,
    ),
  },
  {
    name: 'a global function that drops what it is given',
    project: mocha(`const it = globalThis.it\nglobalThis.it = (name) => it(name, () => {})\n${NOTHING}`),
  },
  {
    name: 'the run of a test replaced',
    project: mocha(
      `import mocha from 'mocha'\ntry { mocha.Runnable.prototype.run = (done) => done() } catch {}\n${NOTHING}`,
    ),
  },
  {
    name: 'a setter on Object.prototype that takes the function of each test',
    project: mocha(`try { Object.defineProperty(Object.prototype, 'fn', { configurable: true, set(fn) {
  Object.defineProperty(this, 'fn', { value: this.type === 'hook' ? fn : () => {}, writable: true, configurable: true }) } }) } catch {}\n${NOTHING}`),
  },
  {
    name: 'the end of the process found by an inspector',
    project: mocha(`${FORGED}import { Session } from 'node:inspector'
const session = new Session()
const post = (method, params) => { let found; session.post(method, params, (_, result) => { found = result }); return found }
try {
  session.connect()
  globalThis.__end = process.reallyExit
  const { result } = post('Runtime.evaluate', { expression: '__end' })
  const scopes = post('Runtime.getProperties', { objectId: result.objectId }).internalProperties.find((one) => one.name === '[[Scopes]]')
  for (const scope of scopes ? post('Runtime.getProperties', { objectId: scopes.value.objectId }).result : [])
    for (const one of post('Runtime.getProperties', { objectId: scope.value.objectId }).result)
      if (one.name === 'end') post('Runtime.callFunctionOn', { objectId: one.value.objectId, functionDeclaration: 'function () { this(0) }' })
} catch {}
process.reallyExit(0)\n${NOTHING}`),
  },
  { name: 'a forged report and process.exit(0)', project: mocha(`${FORGED}process.exit(0)\n${NOTHING}`) },
  {
    name: 'a forged report and a file that waits for ever with exit code 0',
    project: mocha(
      `${FORGED}process.exitCode = 0\nprocess.on('exit', () => process.reallyExit(0))\nawait new Promise(() => {})\n${NOTHING}`,
    ),
  },
]

const HONEST: readonly { readonly name: string; readonly project: Project; readonly isThere: boolean }[] = [
  {
    name: 'own matchers and mocks of vitest',
    isThere: true,
    project: vitest(
      'export const add = (a, b) => a + b\n',
      `import { expect, it, vi } from 'vitest'
import { add } from '../src/add.js'
expect.extend({ toBeEven: (n) => ({ pass: n % 2 === 0, message: () => 'odd' }) })
it('adds', () => {
  expect(add(2, 2)).toBeEven()
  expect(() => expect(3).toBeEven()).toThrow('odd')
  const spy = vi.spyOn(process, 'exit').mockImplementation(() => undefined)
  process.exit(2)
  expect(spy).toHaveBeenCalledWith(2)
})
`,
    ),
  },
  {
    name: 'values with functions of their own names',
    isThere: true,
    project: vitest(
      `export class Sum {
  constructor(value) { this.value = value; this.toString = () => 'own' }
  hasOwnProperty() { return false }
}
export const add = (a, b) => Object.assign(new Sum(a + b), { call: 1, keys: [] })\n`,
      `import { expect, it, vi } from 'vitest'
import { add } from '../src/add.js'
it('adds', () => {
  expect(String(add(2, 3))).toBe('own')
  expect(add(2, 3).value).toEqual(5)
  const f = () => 1
  f.call = () => 2
  expect(f.call()).toBe(2)
  expect({ a: [1, new Map([[1, new Set([2])]])] }).toEqual({ a: [1, new Map([[1, new Set([2])]])] })
  const { get } = Object.getOwnPropertyDescriptor(Object.prototype, 'toString')
  expect((get === undefined || 'originalValue' in get ? Object.prototype.toString : get).call([])).toBe('[object Array]')
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  vi.spyOn(JSON, 'parse').mockReturnValue(7)
  expect(Math.random() + JSON.parse('1')).toBe(7.5)
})
`,
    ),
  },
  {
    name: 'plugins of chai that add, hooks and waiting in mocha',
    isThere: HAS_MOCHA,
    project: mocha(
      'export const add = (a, b) => a + b\n',
      `import * as chai from 'chai'
import { add } from '../src/add.js'
const { expect } = chai.use(({ Assertion }) => Assertion.addMethod('even', function () { this.assert(this._obj % 2 === 0, 'odd', 'even') }))
describe('adding', () => {
  let ready = false
  before(async () => { ready = true })
  it('adds', async function () {
    this.timeout(1000)
    await null
    expect(ready).to.equal(true)
    expect(add(1, 1)).to.be.even()
    expect(() => expect(1).to.be.even()).to.throw('odd')
  })
})
`,
    ),
  },
]

function refuses(name: string, project: Project): void {
  it(`[REQ-GUARD-6] does not turn tests green: ${name}`, () => {
    const plain = runTests(project, 'plain')
    expect(plain.isGreen, `without the guard the trick works\n${plain.text}`).toBe(true)
    const guarded = runTests(project, 'guarded')
    expect(guarded.isGreen, guarded.text).toBe(false)
    expect(guarded.exitCode).not.toBe(0)
  })
}

describe('the guard of vitest', () => {
  for (const { name, project } of VITEST_TRICKS) refuses(name, project)
})

describe.skipIf(!HAS_MOCHA)(`the guard of mocha and chai${FOUND.ok ? '' : ` (${FOUND.reason})`}`, () => {
  for (const { name, project } of MOCHA_TRICKS) refuses(name, project)
})

describe('honest tests of vitest and mocha', () => {
  for (const { name, project, isThere } of HONEST)
    it.skipIf(!isThere)(`[REQ-GUARD-7] stay green: ${name}`, () => {
      const guarded = runTests(project, 'guarded')
      expect(guarded.isGreen, guarded.text).toBe(true)
    })
})
