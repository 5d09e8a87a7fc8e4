import { describe, expect, it } from 'vitest'
import { invertTests } from '../../src/inverter/invert-tests.js'
import { expectTwinsToHold, type Outcome, type Runner, runFile } from './run-suite.js'
import { has, NODE, UNITTEST, VITEST } from './runners.js'

const RUNNERS: readonly (readonly [string, Runner, boolean])[] = [
  ['node:test', NODE, true],
  ['vitest', VITEST, true],
  ['unittest', UNITTEST, has('python3', '--version')],
]

describe('an honest suite', () => {
  for (const [name, runner, isThere] of RUNNERS)
    it.skipIf(!isThere)(
      `[REQ-INVERT-6] of ${name} passes unturned and fails turned, and tests without assertion survive`,
      () => expectTwinsToHold(runner, 'seed'),
      300_000,
    )
})

async function runTwins(
  text: string,
  files: Readonly<Record<string, string>> = {},
): Promise<readonly (Outcome | undefined)[]> {
  const inversion = await invertTests({ path: NODE.suite.path, text, seed: 'twins' })
  if (inversion.outcome !== 'rewritten') throw new Error(inversion.reason)
  expect(inversion.leftAlone).toEqual([])
  const runner = { ...NODE, files }
  return [inversion.unturned, inversion.turned].map((twin) => runFile(runner, twin).get('case_0'))
}

const LIE = "assert.equal(give('lie'), 2)"
const IMPORTS = "import assert from 'node:assert'\nimport test from 'node:test'\n"
// The code under test: what is compared has to come from code, since literals alone are left as they are.
const GIVE = 'const give = (value) => value\n'

describe('code under test', () => {
  it.each([
    ['replaces a comparison', "import './code.mjs'\n", 'assert.equal(give(1), 2)'],
    ['leaves before the assertion', '', 'return; assert.equal(give(1), 2)'],
    ['swallows the failure', '', 'try { assert.equal(give(1), 2) } catch {}'],
  ])('[REQ-INVERT-8] a test survives the turned run where somebody %s', async (_, imports, code) => {
    const text = `${IMPORTS}${imports}${GIVE}test('case_0', () => { ${code} })\n`
    const files = { 'code.mjs': "import assert from 'node:assert'\nassert.equal = () => {}\n" }
    expect((await runTwins(text, files)).map((outcome) => outcome?.status)).toEqual(['passed', 'passed'])
  })

  it('[REQ-TWINS-20] one assertion that holds although it is turned outweighs all others, and honest tests go on behind each', async () => {
    const honest = "assert.equal(typeof test, 'function')"
    const lies = [
      `${LIE}; ${honest}`,
      `${honest}; await 0; ${LIE}`,
      `${LIE}; return assert.rejects(Promise.reject(new Error('no')), /no/)`,
      `check('lie', 2); ${honest}`,
      `for (const one of [1]) { ${LIE} } if (give(1) > 2) throw new Error('no')`,
      `[1].forEach(() => { ${LIE} }); ${honest}`,
      `try { assert.equal(give(1), 2) } catch {} ${honest}`,
      `${honest}, ${LIE}`,
      `[1].forEach(() => ${LIE}); ${honest}`,
    ]
    const sound = [
      `for (const one of [1, 2]) assert.equal(give(one), one); if (test) ${honest}; else ${honest}`,
      "check(1, 1); await assert.rejects(async () => { throw new Error('no') }, /no/)",
      `const kept = assert.equal(give(1), 1); ${honest}; return Promise.resolve(1).then((one) => { assert.equal(one, 1) })`,
      `try { ${honest} } catch (error) { throw error } finally { assert.ok(give(true)) } // why`,
      `assert.throws(() => { assert.equal(give(1), 2) })\n${honest} // without a semicolon`,
    ]
    const tests = [...lies, ...sound].map((code, index) => `test('case_${index}', async () => { ${code}\n})\n`)
    const replaced = "const real = assert.equal\nassert.equal = (a, b) => a === 'lie' ? undefined : real(a, b)\n"
    const helper = 'function check(got, expected) { assert.equal(got, expected) }\n'
    const text = `${IMPORTS}${GIVE}${replaced}${helper}${tests.join('')}`
    const inversion = await invertTests({ path: NODE.suite.path, text, seed: 'each' })
    if (inversion.outcome !== 'rewritten') throw new Error(inversion.reason)
    expect(inversion.leftAlone).toEqual([])
    const statuses = (twin: string) => [...runFile(NODE, twin).values()].map(({ status }) => status)
    expect(statuses(inversion.unturned)).toEqual([...lies, ...sound].map(() => 'passed'))
    expect(statuses(inversion.turned)).toEqual([...lies.map(() => 'passed'), ...sound.map(() => 'failed')])
  })

  it('[REQ-INVERT-3] code under test that replaces what the helper calls sees the same calls in both twins', async () => {
    const code = `export const seen = []
for (const [object, names] of [[Object, Object.getOwnPropertyNames(Object)], [Array, ['isArray']], [Reflect, ['apply', 'ownKeys']]])
  for (const name of names) {
    const real = object[name]
    if (typeof real === 'function' && name !== 'prototype') object[name] = (...args) => { seen.push(name); return real(...args) }
  }
`
    const test = `test('case_0', () => {
  const from = seen.length
  try { assert.deepEqual({ a: [1, 'x'], b: new Date(3) }, { a: [1, 'x'], b: new Date(3) }) } catch {}
  try { assert.equal(give('text'), 'text') } catch {}
  throw new Error('calls: ' + seen.slice(from).join(' '))
})
`
    const [unturned, turned] = await runTwins(`${IMPORTS}import { seen } from './code.mjs'\n${GIVE}${test}`, {
      'code.mjs': code,
    })
    expect(unturned?.message).toMatch(/calls: \w+/)
    expect(turned).toEqual(unturned)
  })
})
