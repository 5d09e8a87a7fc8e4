import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readHeldOutExamples } from '../../src/checks/examples/read-examples.js'
import { runExample } from '../../src/checks/examples/run-example.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { invertTests } from '../../src/inverter/invert-tests.js'
import { openStage, type Stage } from './stage.js'

const HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const NODE = { run: 'node --test tests/add.test.mjs', format: 'node' }
const PATH = 'tests/add.test.mjs'
const CODE = { 'src/add.mjs': 'export const add = (a, b) => a + b\n' }
const HONEST = `${HEAD}import { add } from '../src/add.mjs'\ntest('adds', () => assert.equal(add(2, 3), 5))\n`
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.end(), 300_000)

describe('what the inverted run does not go beyond', () => {
  it('[REQ-TWINS-19] more than 500 new test files block, and are counted', async () => {
    const task = await stage.task({}, NODE)
    const many = `for n in $(seq 500); do echo "import { test } from 'node:test'" > tests/$n.test.mjs; done`
    await task.write({ [PATH]: HONEST })
    await task.bash(many)
    await task.red({ [PATH]: ['AC-1'] })
    await task.write(CODE)
    const [blocked] = await task.green()
    expect(blocked).toMatchObject({
      check: 'tests_can_fail',
      message: 'New tests must be able to fail: 501 test files are new or changed, and at most 500 are judged',
      remedy: expect.stringMatching(/^Request TDD .*, then put the new tests into fewer files/),
    })
    await task.back()
    await task.bash('rm tests/[0-9]*.test.mjs')
    await task.red({ [PATH]: ['AC-1'] })
    expect(await task.green()).toEqual([])
  })

  it('[REQ-TWINS-19] assertions in helper files beyond the hundredth prove nothing', async () => {
    const task = await stage.task({}, NODE)
    const names = numbers(102).map((n) => `helper${String(n).padStart(3, '0')}`)
    const helper = "import assert from 'node:assert/strict'\nexport const same = (a, b) => assert.equal(a, b)\n"
    const imports = names.map((name) => `import { same as ${name} } from './${name}.mjs'`).join('\n')
    const test = (name: string): string =>
      `${imports}\nimport { test } from 'node:test'\ntest('adds', async () => ${name}((await import('../src/add.mjs')).add(2, 3), 5))\n`
    await task.write({ [PATH]: test('helper101') })
    await task.write({ 'tests/helper000.mjs': helper })
    await task.bash(`for name in ${names.slice(1).join(' ')}; do cp tests/helper000.mjs tests/$name.mjs; done`)
    await task.red({ [PATH]: ['AC-1'] })
    await task.write(CODE)
    const [blocked] = await task.green()
    expect(blocked?.message).toMatch(/no test is proved for "AC-1"/)
    await task.back()
    await task.write({ [PATH]: test('helper000') })
    await task.red({ [PATH]: ['AC-1'] })
    expect(await task.green()).toEqual([])
  })
})

describe('what the inverter does not go beyond', () => {
  it('[REQ-INVERT-4] 20,000 assertions, and 600,000 parts of the text', async () => {
    const many = (count: number): string => `def test_a():\n${'  assert a\n'.repeat(count)}`
    const reasons: string[] = []
    for (const file of [
      { path: 'test_a.py', text: many(20_001) },
      { path: 'a.test.js', text: `[${'1,'.repeat(400_000)}]` },
      { path: 'test_a.py', text: many(100) },
    ]) {
      const made = await invertTests({ ...file, seed: 'seed' })
      reasons.push(made.outcome === 'not_judged' ? made.reason : made.outcome)
    }
    expect(reasons).toEqual(['took_too_long', 'took_too_long', 'rewritten'])
  })
})

describe('what an example does not go beyond', () => {
  it('[REQ-EXAMPLES-2] its time, its output, and the time of all of them', async () => {
    const { examples } = readHeldOutExamples({
      examples: ['sleep 30', 'head -c 1100000 /dev/zero', 'true'].map((run) => ({ run, expect: { exit_code: 0 } })),
    } as never)
    const [slow, loud, quick] = examples
    if (slow === undefined || loud === undefined || quick === undefined) throw new Error('cannot be read')
    const confinement = await openConfinement({ stateDir: stage.run.stateDir, only: null })
    const place = { confinement, tree: stage.run.workspace, hidden: [], env: {}, redact: String }
    const { signal } = new AbortController()
    const run = (example: typeof slow, ms: number): Promise<string | null> =>
      runExample({ ...place, signal, deadline: performance.now() + ms }, example)
    try {
      expect(await run(slow, 1500)).toBe('did not end within 2 s')
      expect(await run(loud, 30_000)).toBe('wrote too much output')
      expect(await run(quick, -1)).toBe('was not run: the examples of a gate took too long together')
      expect(await run(quick, 30_000)).toBeNull()
    } finally {
      await confinement.close()
    }
  })
})
