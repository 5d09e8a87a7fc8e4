import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStage, type Stage, type Terms } from './stage.js'

const HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const IMPORT = "import { add } from '../src/add.mjs'\n"
const HONEST = `${HEAD}${IMPORT}test('adds', () => assert.equal(add(2, 3), 5))\n`
const CODE = 'export const add = (a, b) => a + b\n'
const NODE = { run: 'node --test tests/', format: 'node' }
const PATH = 'tests/add.test.mjs'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.end(), 300_000)

async function inImpl(test: string, terms: Terms = NODE, files: Readonly<Record<string, string>> = {}) {
  const task = await stage.task(files, terms)
  await task.write({ [PATH]: test })
  await task.red({ [PATH]: ['AC-1'] })
  await task.write({ 'src/add.mjs': CODE })
  return task
}

const inverted = async (task: Awaited<ReturnType<typeof inImpl>>) =>
  (await task.ran()).inverted as Record<string, unknown> | undefined

describe('the gate with tests_can_fail', () => {
  it('[REQ-TWINS-3] each criterion needs a proved test; other tests cause a warning', async () => {
    const task = await stage.task({}, NODE)
    const silent = `${HEAD}test('runs', async () => { (await import('../src/add.mjs')).add(1, 1) })\n`
    await task.write({ [PATH]: HONEST, 'tests/runs.test.mjs': silent })
    await task.red({ [PATH]: ['AC-1'], 'tests/runs.test.mjs': ['AC-2'] }, ['AC-1', 'AC-2'])
    await task.write({ 'src/add.mjs': CODE })
    const [blocked] = await task.green()
    expect(blocked?.message).toBe(
      'New tests must be able to fail: no test is proved for "AC-2" (tests/runs.test.mjs:3 runs: it has no assertion that is known (the file uses node:assert, node:test))',
    )
    expect(blocked?.grade).toBe('observed')
    await task.back()
    await task.red({ [PATH]: ['AC-1'], 'tests/runs.test.mjs': ['AC-1'] })
    expect(await task.green()).toEqual([])
    expect(task.warnings()).toContain('Not proved: tests/runs.test.mjs:3 runs (not_judged: it has no assertion')
  })

  it('[REQ-TWINS-6] old tests that cannot fail are only causes a warning, also in a changed file', async () => {
    const old = "test('old', () => { try { assert.equal(process.argv.length, 2) } catch {} })\n"
    const task = await stage.task({ [PATH]: `${HEAD}${old}` }, NODE)
    await task.write({ [PATH]: `${HEAD}${IMPORT}${old}test('adds', () => assert.equal(add(2, 3), 5))\n` })
    await task.red({ [PATH]: ['AC-1'] })
    await task.write({ 'src/add.mjs': CODE })
    expect(await task.green()).toEqual([])
    expect(task.warnings()).toContain(
      `For information: tests that were there before the task and cannot fail: ${PATH}:4 old`,
    )
  })

  it('[REQ-TWINS-3] helper files that assert are turned with the tests that use them', async () => {
    const helper = "import assert from 'node:assert/strict'\nexport const same = (a, b) => assert.equal(a, b)\n"
    const test = `import { test } from 'node:test'\nimport { same } from './helper.mjs'\ntest('adds', async () => same((await import('../src/add.mjs')).add(2, 3), 5))\n`
    const task = await inImpl(test, NODE, { 'tests/helper.mjs': helper })
    expect(await task.green()).toEqual([])
    expect(await inverted(task)).toMatchObject({ proved: 1, survived: 0 })
  })

  it('[REQ-TWINS-4] assertions that cancel each other out are tried once more', async () => {
    const test = `${HEAD}${IMPORT}test('adds', () => {
  assert.doesNotThrow(() => assert.equal(add(2, 3), 5))
})
`
    const task = await inImpl(test)
    expect(await task.green()).toEqual([])
    expect(await inverted(task)).toMatchObject({ proved: 1 })
  }, 60_000)

  it.each([
    [undefined, ''],
    ['strict', 'there are no rules for its language'],
  ])('[REQ-TWINS-5] a language without rules with inverted: %s', async (setting, blockedBy) => {
    const test = '[ "$(sh src/add.sh 2 3)" = 5 ] && echo "ok 1 - adds" || { echo "not ok 1 - adds"; exit 1; }\n'
    const terms = { run: 'echo 1..1; sh tests/add.test.sh', format: 'tap', ...(setting && { inverted: setting }) }
    const task = await stage.task({ 'src/add.sh': 'echo 0\n' }, terms)
    await task.write({ 'tests/add.test.sh': test })
    await task.red({ 'tests/add.test.sh': ['AC-1'] })
    await task.write({ 'src/add.sh': 'echo $(($1 + $2))\n' })
    const blocked = await task.green()
    if (blockedBy === '') expect(task.warnings()).toContain('not_judged: there are no rules for its language')
    else expect(blocked[0]?.message).toContain(blockedBy)
    expect(blocked).toHaveLength(blockedBy === '' ? 0 : 1)
  })

  it('[REQ-TWINS-2] with severity: warning it is said and does not block', async () => {
    const task = await inImpl(
      HONEST.replace('assert.equal(add(2, 3), 5)', '{ try { assert.equal(add(2, 3), 5) } catch {} }'),
      {
        ...NODE,
        severity: 'warning',
      },
    )
    expect(await task.green()).toEqual([])
    expect(task.warnings()).toContain('still passes when the expected value is changed')
    expect(await task.ran()).toMatchObject({ grade: 'observed', inverted: { survived: 1 } })
  })

  it('[REQ-TWINS-12] the same tests and code are not run again in the same visit', async () => {
    const task = await inImpl(
      `${HEAD}${IMPORT}test('adds', () => {\n  try { assert.equal(add(2, 3), 5) } catch {}\n})\n`,
    )
    expect(await task.green()).toHaveLength(1)
    const first = await task.ran()
    expect(await task.green()).toHaveLength(1)
    // As long as before, to the millisecond.
    expect(await inverted(task)).toEqual(first.inverted)
    await task.write({ 'src/add.mjs': `${CODE}// another text\n` })
    expect(await task.green()).toHaveLength(1)
    expect(await task.ran()).toMatchObject({ cached: false })
  })

  it('[REQ-TWINS-16] code that passes its tests only as they are written blocks, also beside a proved test', async () => {
    const list = "test('lists', () => assert.ok(['Ada'].find((one) => one === pick())))\n"
    const two = `${HEAD}import { add, pick } from '../src/add.mjs'\ntest('adds', () => assert.equal(add(2, 3), 5))\n${list}`
    const task = await inImpl(two)
    const forged = (when: string) => `import { readFileSync } from 'node:fs'
const isKnown = readFileSync('${PATH}', 'utf8').includes('equal(add(2, 3), 5)')
if (isKnown${when}) Array.prototype.find = () => 'Ada'
${CODE}export const pick = () => 'Eve'\n`
    await task.write({ 'src/add.mjs': forged('') })
    const [blocked] = await task.green()
    expect(blocked?.message).toBe(
      `New tests must be able to fail: ${PATH}:5 lists passes as written, but not when its text is rewritten with the same expected values`,
    )
    expect(blocked?.remedy).toMatch(/^Ask again.*If the code looks at its tests .* remove that/)
    await task.green()
    // By chance it would be right once in four. Now it has to be right ten times in a row.
    await task.write({ 'src/add.mjs': forged(' || Math.random() < 0.5') })
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await task.green()).toHaveLength(1)
    await task.write({ 'src/add.mjs': `${CODE}export const pick = () => 'Ada'\n` })
    expect(await task.green()).toEqual([])
  })

  it('[REQ-TWINS-18] a test that waits for good once a handler asserts something else is proved by its outer assertions', async () => {
    const waiting = `${HEAD}${IMPORT}test('adds', async () => {
  const sum = await new Promise((done) => {
    const timer = setInterval(() => undefined, 1000)
    const handle = (got) => { try { assert.equal(got, 5) } catch { return }; clearInterval(timer); done(got) }
    handle(add(2, 3))
  })
  assert.equal(sum, 5)
})
`
    const task = await inImpl(waiting, { ...NODE, inverted: '{max_seconds: 12}' })
    expect(await task.green()).toEqual([])
    expect(await task.ran()).toMatchObject({ grade: 'proved', inverted: { proved: 1, no_evidence: 0 } })
    const silent = waiting.replace('  assert.equal(sum, 5)\n', '')
    const other = await inImpl(silent, { ...NODE, inverted: '{max_seconds: 12}' })
    const [blocked] = await other.green()
    expect(blocked?.message).toContain('the inverted run took too long')
  }, 120_000)

  it('[REQ-TWINS-14] a run that does not end is stopped by its budget', async () => {
    const slow = `${HEAD}${IMPORT}test('adds', async () => {
  const sum = add(2, 3)
  await new Promise((done) => setTimeout(done, 300))
  assert.equal(sum, 5)
})
`
    const task = await inImpl(slow, { ...NODE, inverted: '{max_seconds: 1}' })
    await task.write({
      'src/add.mjs': `import { setTimeout as wait } from 'node:timers/promises'\nawait wait(3000)\n${CODE}`,
    })
    const [blocked] = await task.green()
    expect(blocked?.message).toContain('the inverted run took too long')
  }, 60_000)
})

describe('a gate whose inverted run takes long', () => {
  it('[REQ-TWINS-13] is answered with checking, and asking again gets the answer', async () => {
    const slow = await openStage({ answerWithinMs: 300 })
    try {
      const task = await slow.task({}, NODE)
      await task.write({ [PATH]: HONEST })
      await task.red({ [PATH]: ['AC-1'] })
      await task.write({ 'src/add.mjs': CODE })
      const ask = { task_id: task.id, target_phase: 'DONE' }
      expect((await slow.run.call('POST', '/tasks/transition', task.token(), ask)).body).toMatchObject({
        checking: true,
      })
      expect(await task.green()).toEqual([])
      expect(await task.ran()).toMatchObject({ grade: 'proved' })
    } finally {
      await slow.end()
    }
  })
})
