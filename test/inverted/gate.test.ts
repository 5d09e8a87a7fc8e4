import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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
}, 60_000)
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
  it('[REQ-TWINS-3] each criterion needs a proved test; other tests are warned about', async () => {
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
  }, 60_000)

  it('[REQ-TWINS-6] old tests that cannot fail are only warned about, also in a changed file', async () => {
    const old = "test('old', () => { try { assert.equal(1, 1) } catch {} })\n"
    const task = await stage.task({ [PATH]: `${HEAD}${old}` }, NODE)
    await task.write({ [PATH]: `${HEAD}${IMPORT}${old}test('adds', () => assert.equal(add(2, 3), 5))\n` })
    await task.red({ [PATH]: ['AC-1'] })
    await task.write({ 'src/add.mjs': CODE })
    expect(await task.green()).toEqual([])
    expect(task.warnings()).toContain(`Cannot fail, and was there before the task: ${PATH}:4 old`)
  }, 60_000)

  it('[REQ-TWINS-3] helper files that assert are turned with the tests that use them', async () => {
    const helper = "import assert from 'node:assert/strict'\nexport const same = (a, b) => assert.equal(a, b)\n"
    const test = `import { test } from 'node:test'\nimport { same } from './helper.mjs'\n${IMPORT}test('adds', () => same(add(2, 3), 5))\n`
    const task = await inImpl(test, NODE, { 'tests/helper.mjs': helper })
    expect(await task.green()).toEqual([])
    expect(await inverted(task)).toMatchObject({ proved: 1, survived: 0 })
  }, 60_000)

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
  ])(
    '[REQ-TWINS-5] a language without rules with inverted: %s',
    async (setting, blockedBy) => {
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
    },
    60_000,
  )

  it('[REQ-TWINS-2] with severity: warning it is said and does not block', async () => {
    const task = await inImpl(
      HONEST.replace('assert.equal(add(2, 3), 5)', '{ try { assert.equal(add(2, 3), 5) } catch {} }'),
      {
        ...NODE,
        severity: 'warning',
      },
    )
    expect(await task.green()).toEqual([])
    expect(task.warnings()).toContain('still passes when what is expected is changed')
    expect(await task.ran()).toMatchObject({ grade: 'observed', inverted: { survived: 1 } })
  }, 60_000)

  it('[REQ-TWINS-11] nothing of the rewritten text is left anywhere', async () => {
    const spy = `import { readFileSync, writeFileSync } from 'node:fs'
const text = readFileSync('${PATH}', 'utf8')
for (const place of ['/tmp/spied', 'spied.txt', 'node_modules/spied', '.cache/spied', process.env.HOME + '/spied'])
  try { writeFileSync(place, text) } catch {}
console.log(text)
console.error(text)
${CODE}`
    const test = HONEST.replace('5))', "5, 'sums up'))")
    const task = await inImpl(test, NODE, { '.gitignore': 'node_modules/\n.cache/\n' })
    await task.write({ 'src/add.mjs': spy })
    const seen = [JSON.stringify(await task.green()), JSON.stringify(task.answer().body)]
    const timeline = await stage.run.call('GET', `/tasks/${task.id}/timeline`, stage.run.operator)
    seen.push(JSON.stringify(timeline.body))
    // The helper of the rewritten text captures this; no other text of the task does.
    const MARK = 'getOwnPropertyDescriptors'
    for (const text of seen) expect(text).not.toContain(MARK)
    for (const dir of [task.dir, stage.run.stateDir]) {
      const found = execFileSync('sh', ['-c', `grep -rlaF ${MARK} . || true`], { cwd: dir, encoding: 'utf8' })
      expect(found).toBe('')
    }
    expect(readdirSync(task.dir)).not.toContain('spied.txt')
    expect(readFileSync(join(task.dir, PATH), 'utf8')).toBe(test)
  }, 60_000)

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
