import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { implementation } from '../e2e/walker.js'
import {
  HAS_PYTEST,
  JEST,
  JEST_PROJECT,
  NODE,
  nodeTest,
  type Project,
  PYTHON,
  pythonTest,
  VITEST,
} from './blind-projects.js'
import { expectRefused, type Forge, openForge } from './forge.js'
import { patient } from './shape.suite.js'

/** Tests in which one assertion lies, and another one that honestly fails when it is turned used to prove them. */
let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

interface Case {
  readonly name: string
  readonly project: Project
  readonly tests: Files
  readonly forged: Files
  readonly told: RegExp
  /** The same assertions without the lie; as `tests` where the code alone lies. */
  readonly honestTests?: Files
}

function describeCases(cases: readonly Case[]): void {
  it.each(cases.map((one) => [one.name, one] as const))(
    '[REQ-TWINS-20] %s is refused, and the honest twin completes',
    async (_, { project, tests, forged, told, honestTests }) => {
      const task = await forge.inImpl({ ...project, tests, contract: patient() })
      await task.write(forged)
      await expectRefused(task, told)
      const honest =
        honestTests === undefined ? task : await forge.inImpl({ ...project, tests: honestTests, contract: patient() })
      await honest.write(project.honest)
      await honest.completes()
    },
  )
}

const SURVIVED = /adds.* still passes when the expected value is changed/
const IMPORT = "import { add } from '../src/add.js'\n"
const inNode = (body: string, imports = IMPORT): Files => nodeTest(`${imports}test('adds', () => {\n${body}})\n`)
const inVitest = (body: string, names = 'expect, it'): Files => ({
  'tests/add.test.js': `import { ${names} } from 'vitest'\n${IMPORT}it('adds', async () => {\n${body}})\n`,
})
const SWALLOWS = inNode(
  "  try {\n    assert.equal(add(2, 2), 4)\n  } catch {}\n  assert.equal(typeof add, 'function')\n",
)
const HONEST_SAME = inNode("  assert.equal(add(2, 2), 4)\n  assert.equal(typeof add, 'function')\n")

describe('node:test', () =>
  describeCases([
    {
      name: 'a comparison of the project that compares nothing, beside an assertion that it exists',
      project: NODE,
      tests: inNode('  same(add(2, 2), 4)\n  assert.ok(same)\n', "import { add, same } from '../src/add.js'\n"),
      forged: { 'src/add.js': 'export const same = () => {}\nexport const add = () => 5\n' },
      told: /it only asserts that something imported is there/,
      honestTests: HONEST_SAME,
    },
    {
      name: 'a first assertion whose failure the test swallows',
      project: NODE,
      tests: SWALLOWS,
      forged: { 'src/add.js': 'export const add = () => 5\n' },
      told: /adds still passes .*\(tests\/add\.test\.js:6 passes whatever value it expects, or its failure is caught\)/,
      honestTests: inNode(
        "  try {\n    assert.equal(add(2, 2), 4)\n  } catch (error) {\n    console.error('adds wrongly')\n    throw error\n  }\n  assert.equal(typeof add, 'function')\n",
      ),
    },
    {
      name: 'an assertion with the same call on both sides',
      project: NODE,
      tests: inNode('  assert.equal(add(2, 2), add(2, 2))\n'),
      forged: { 'src/add.js': 'export const add = () => 5\n' },
      told: /it compares a value with itself/,
      honestTests: inNode('  assert.equal(add(2, 2), add(1, 3))\n'),
    },
  ]))

const MATCHES = "{ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true, toString: () => 'any' }"
const MATCHER = `export const add = (a, b) => (${MATCHES})\n`
describe('vitest', () =>
  describeCases([
    {
      name: 'a result that equals everything, before an honest assertion',
      project: VITEST,
      tests: inVitest('  expect(add(2, 2)).toEqual(4)\n  expect(add).toHaveLength(2)\n'),
      forged: { 'src/add.js': MATCHER },
      told: SURVIVED,
    },
    {
      name: 'a result that equals everything, behind an honest assertion and in a loop',
      project: VITEST,
      tests: inVitest(
        '  expect(add).toHaveLength(2)\n  await Promise.resolve()\n  for (const one of [1, 2]) expect(add(one, 2)).toEqual(one + 2)\n  await expect(Promise.resolve(add(2, 2))).resolves.toEqual(4)\n',
      ),
      forged: { 'src/add.js': MATCHER },
      told: SURVIVED,
    },
  ]))

const ANY = 'class Any:\n    def __eq__(self, other):\n        return True\n\n\ndef add(a, b):\n    return Any()\n'
const MONEY = `class Money:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return HOLDS


def add(a, b):
    return Money(a.n + b.n)
`
const inPython = (body: string): Files => pythonTest(`\n\ndef test_adds():\n${body}`)
describe.skipIf(!HAS_PYTEST)('pytest', () =>
  describeCases([
    {
      name: 'a result that equals everything, beside an assertion that the function can be called',
      project: PYTHON,
      tests: inPython('    assert add(2, 2) == 4\n    assert callable(add)\n'),
      forged: { 'src/add.py': ANY },
      told: /test_adds .*still passes .*\(tests\/test_add\.py:5 passes whatever value it expects/,
    },
    {
      name: 'a result that equals everything, as the first part of an assertion',
      project: PYTHON,
      tests: inPython("    assert add(2, 2) == 4 and add.__name__ == 'add'\n"),
      forged: { 'src/add.py': ANY },
      told: SURVIVED,
    },
    {
      name: 'a result that equals everything, in a helper of the test file',
      project: PYTHON,
      tests: pythonTest(
        "\n\ndef check(got, expected):\n    assert got == expected\n\n\ndef test_adds():\n    check(add(2, 2), 4)\n    assert add.__name__ == 'add'\n",
      ),
      forged: { 'src/add.py': ANY },
      told: SURVIVED,
    },
    {
      name: 'a first assertion whose failure is suppressed',
      project: PYTHON,
      tests: inPython(
        "    try:\n        assert add(2, 2) == 4\n    except Exception:\n        pass\n    assert add.__name__ == 'add'\n",
      ),
      forged: { 'src/add.py': 'def add(a, b):\n    return 5\n' },
      told: SURVIVED,
      honestTests: inPython(
        "    try:\n        assert add(2, 2) == 4\n    finally:\n        pass\n    assert add.__name__ == 'add'\n",
      ),
    },
  ]),
)

// Values in which one part lies, and values of a class of the project whose comparison does.
const USER = "{ id: 1, name: 'Ada', tags: ['a', 'b'], total: 19.99 }"
const LYING_USER = `{ id: 1, name: 'Ada', tags: ['a', 'b'], total: ${MATCHES} }`
const PYTHON_USER = "{'id': 1, 'name': 'Ada', 'tags': ['a', 'b'], 'total': 19.99}"
const inJest = (body: string): Files => ({
  'tests/add.test.js': `const { add } = require('../src/add')\nit('adds', () => {\n${body}})\n`,
})
describe('a part that lies', () => {
  describe('vitest', () =>
    describeCases([
      {
        name: 'vitest: one value of an object',
        project: { ...VITEST, honest: { 'src/add.js': `export const add = (id) => (${USER})\n` } },
        tests: inVitest(`  expect(add(1)).toEqual(${USER})\n`),
        forged: { 'src/add.js': `export const add = () => (${LYING_USER})\n` },
        told: SURVIVED,
      },
      {
        name: 'vitest: the second argument of a call',
        project: { ...VITEST, honest: { 'src/add.js': "export const add = (done) => done(null, 'Ada')\n" } },
        tests: inVitest(
          "  const done = vi.fn()\n  add(done)\n  expect(done).toHaveBeenCalledWith(null, 'Ada')\n",
          'expect, it, vi',
        ),
        forged: { 'src/add.js': `export const add = (done) => done(null, ${MATCHES})\n` },
        told: SURVIVED,
      },
      {
        name: 'vitest: a result that equals every date',
        project: { ...VITEST, honest: { 'src/add.js': "export const add = () => '2024-01-15'\n" } },
        tests: inVitest("  expect(add(1)).toEqual('2024-01-15')\n"),
        forged: {
          'src/add.js': `export const add = () => (${MATCHES.replace('() => true', '(other) => /^\\d{4}-\\d\\d-\\d\\d$/.test(other)')})\n`,
        },
        told: SURVIVED,
      },
    ]))
  describe.skipIf(!JEST.ok)('jest', () =>
    describeCases([
      {
        name: 'jest: one value of an object',
        project: { ...JEST_PROJECT, honest: { 'src/add.js': `exports.add = (id) => (${USER})\n` } },
        tests: inJest(`  expect(add(1)).toMatchObject(${USER})\n`),
        forged: { 'src/add.js': `exports.add = () => (${LYING_USER})\n` },
        told: SURVIVED,
      },
    ]),
  )
  describe.skipIf(!HAS_PYTEST)('pytest', () =>
    describeCases([
      {
        name: 'pytest: one value of a dictionary',
        project: { ...PYTHON, honest: { 'src/add.py': `def add(a):\n    return ${PYTHON_USER}\n` } },
        tests: inPython(`    assert add(1) == ${PYTHON_USER}\n`),
        forged: {
          'src/add.py': `${ANY.split('def add')[0]}def add(a):\n    return ${PYTHON_USER.replace('19.99', 'Any()')}\n`,
        },
        told: SURVIVED,
      },
      {
        name: 'pytest: objects of a class that equals every object of the class',
        project: { ...PYTHON, honest: { 'src/add.py': MONEY.replace('HOLDS', 'self.n == other.n') } },
        tests: pythonTest(
          'from src.add import Money\n\n\ndef test_adds():\n    assert add(Money(2), Money(2)) == Money(4)\n',
        ),
        forged: { 'src/add.py': MONEY.replace('HOLDS', 'isinstance(other, Money)').replace('a.n + b.n', '5') },
        told: SURVIVED,
      },
    ]),
  )
})

describe('code that is tried again and again', () => {
  it('[REQ-TWINS-21] is parked after denial_budget refusals, although it differs each time', async () => {
    const contract = (text: string): string => `${text.trimEnd()}\n  denial_budget: 3\n  max_attempts: 1000\n`
    const task = await forge.inImpl({ ...NODE, tests: SWALLOWS, contract })
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await task.write({ 'src/add.js': `export const add = () => 5\n// ${attempt}\n` })
      const answer = await task.agent.move('REVIEW', implementation('src'))
      expect(answer).toMatchObject({ allowed: false })
    }
    const { server } = forge
    const { body } = await server.call('GET', `/tasks/${task.agent.task}`, server.operator)
    expect(JSON.stringify(body)).toMatch(/tests_can_fail refused the tests 3 times/)
    expect(body).toMatchObject({ status: 'parked' })
  })
})
