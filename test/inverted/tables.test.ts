import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth, isFullDepth } from '../depth.js'
import { openStage, type Stage } from './stage.js'

const HEAD = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fizz } from '../src/fizz.mjs'
`
const NODE = { run: 'node --test tests/*.test.mjs', format: 'node' }
const PATH = 'tests/fizz.test.mjs'
const BEFORE = 'export const fizz = (n) => n\n'
const CODE = "export const fizz = (n) => (n % 3 === 0 ? 'fizz' : n)\n"
const OLD_ROWS = '[1, 1], [2, 2]'
const ROWS = `${OLD_ROWS}, [3, 'fizz']`

/** Tests made from a table, by how their names are written. */
const joined = (rows: string) => `${HEAD}const cases = [${rows}]
for (const [input, want] of cases) test('fizz of ' + input, () => assert.equal(fizz(input), want))
`
const template = (rows: string) => joined(rows).replace("'fizz of ' + input", `\`fizz of $\{input}\``)
const computed = (rows: string) => joined(rows).replace("'fizz of ' + input", 'String(input)')
const inside = (rows: string) => `${HEAD}const cases = [${rows}]
test('fizz', () => {
  for (const [input, want] of cases) assert.equal(fizz(input), want)
})
`

const ALL_WAYS = [
  ['a name that is joined from parts', joined],
  ['one test for all rows', inside],
  ['a template', template],
  ['a name without any text', computed],
] as const
const WAYS = ALL_WAYS.slice(0, depth(1, ALL_WAYS.length))
const more = it.runIf(isFullDepth())

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.end(), 300_000)

describe('tests that are made from a table', () => {
  it.each(WAYS)(
    '[REQ-TWINS-22] a row that is added is proved, although the text of the test is old: %s',
    async (_, write) => {
      const task = await stage.task({ 'src/fizz.mjs': BEFORE, [PATH]: write(OLD_ROWS) }, NODE)
      await task.write({ [PATH]: write(ROWS) })
      await task.red({ [PATH]: ['AC-1'] })
      await task.write({ 'src/fizz.mjs': CODE })
      expect(await task.green()).toEqual([])
      expect((await task.ran()).inverted).toMatchObject({ new_proved: 1, survived: 0 })
    },
  )

  more('[REQ-TWINS-22] a new file of computed names is proved beside others', async () => {
    const other =
      "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\ntest('one', () => assert.equal(process.argv0.length, 4))\n"
    const task = await stage.task({ 'src/fizz.mjs': BEFORE, 'tests/one.test.mjs': other }, NODE)
    await task.write({ [PATH]: template(ROWS) })
    await task.red({ [PATH]: ['AC-1'] })
    await task.write({ 'src/fizz.mjs': CODE })
    expect(await task.green()).toEqual([])
  })

  more('[REQ-TWINS-22] so is a case that is added to the data of an unchanged test file', async () => {
    const reads = `${HEAD}import { readFileSync } from 'node:fs'
const cases = JSON.parse(readFileSync(new URL('./cases.json', import.meta.url), 'utf8'))
for (const { name, n, want } of cases) test(name, () => assert.equal(fizz(n), want))
`
    const data = 'tests/cases.json'
    const one = { name: 'one stays', n: 1, want: 1 }
    const files = { 'src/fizz.mjs': BEFORE, [PATH]: reads, [data]: JSON.stringify([one]) }
    const task = await stage.task(files, NODE)
    await task.write({ [data]: JSON.stringify([one, { name: 'three is fizz', n: 3, want: 'fizz' }]) })
    await task.red({ [PATH]: ['AC-1'] })
    await task.write({ 'src/fizz.mjs': CODE })
    expect(await task.green()).toEqual([])
  })

  more('[REQ-TWINS-22] a row proves nothing where its test swallows the failure', async () => {
    const swallow = (rows: string) =>
      `${HEAD}const cases = [${rows}]
for (const [input, want] of cases)
  test('fizz of ' + input, () => {
    if (want === 'fizz' && fizz(3) === 3) throw new assert.AssertionError({ actual: 3, expected: 'fizz', operator: '==' })
    try { assert.equal(fizz(input), want) } catch {}
  })
`
    const task = await stage.task({ 'src/fizz.mjs': BEFORE, [PATH]: swallow(OLD_ROWS) }, NODE)
    await task.write({ [PATH]: swallow(ROWS) })
    await task.red({ [PATH]: ['AC-1'] })
    await task.write({ 'src/fizz.mjs': CODE })
    const [blocked] = await task.green()
    expect(blocked?.message).toContain('no test is proved for "AC-1"')
  })

  it('[REQ-TWINS-22] a new row that cannot fail blocks, whatever another row proves', async () => {
    const some = (rows: string) =>
      `${HEAD}const cases = [${rows}]
for (const [input, want] of cases)
  test('fizz of ' + input, () => {
    if (want !== 'fizz') return assert.equal(fizz(input), want)
    if (fizz(3) === 3) throw new Error('no')
    try { assert.equal(fizz(input), want) } catch {}
  })
`
    const task = await stage.task({ 'src/fizz.mjs': BEFORE, [PATH]: some(OLD_ROWS) }, NODE)
    await task.write({ [PATH]: some(`${ROWS}, [4, 4]`) })
    await task.red({ [PATH]: ['AC-1'] })
    await task.write({ 'src/fizz.mjs': "export const fizz = (n) => (n === 3 ? 'FORGED' : n)\n" })
    const [blocked] = await task.green()
    expect(blocked?.message).toContain('fizz of 3 still passes when the expected value is changed')
  })

  it('[REQ-TWINS-22] a new test does not hide behind a computed name of old tests', async () => {
    const old = joined(OLD_ROWS)
    const weak = `test('fizz of 3', () => {
  if (fizz(3) === 3) throw new Error('no')
  try { assert.equal(fizz(3), 'fizz') } catch {}
})
test('fizz of 4', () => assert.equal(fizz(4), 4))
`
    const task = await stage.task({ 'src/fizz.mjs': BEFORE, [PATH]: old }, NODE)
    await task.write({ [PATH]: `${old}${weak}` })
    await task.red({ [PATH]: ['AC-1'] })
    await task.write({ 'src/fizz.mjs': "export const fizz = (n) => (n === 3 ? 'FORGED' : n)\n" })
    const [blocked] = await task.green()
    expect(blocked?.message).toContain('fizz of 3 still passes when the expected value is changed')
  })

  more('[REQ-TWINS-22] an unchanged file that is named too is not run turned around', async () => {
    const polls = `${HEAD}test('waits', async () => {
  for (;;) try { return assert.equal(fizz(1), 1) } catch { await new Promise((resolve) => setTimeout(resolve, 50)) }
})
`
    const old = 'tests/old.test.mjs'
    const task = await stage.task({ 'src/fizz.mjs': BEFORE, [old]: polls }, NODE)
    await task.write({ [PATH]: `${HEAD}test('three', () => assert.equal(fizz(3), 'fizz'))\n` })
    await task.red({ [PATH]: ['AC-1'], [old]: ['AC-1'] })
    await task.write({ 'src/fizz.mjs': CODE })
    expect(await task.green()).toEqual([])
  })

  more('[REQ-TWINS-22] an old test with its old result proves no criterion, and is named', async () => {
    const one = "test('one', () => assert.equal(fizz(1), 1))\n"
    const task = await stage.task({ 'src/fizz.mjs': BEFORE, [PATH]: `${HEAD}${one}` }, NODE)
    const waiting = `${HEAD}import { buzz } from '../src/buzz.mjs'\n${one}`
    await task.write({ [PATH]: `${waiting}test('five', () => assert.equal(buzz(5), 'buzz'))\n` })
    const criteria = { 'AC-1': ['five'], 'AC-2': ['one'] }
    const file = { path: PATH, covers: ['AC-1', 'AC-2'], criteria }
    expect((await task.moveWithTests([file], ['AC-1', 'AC-2'])).body).toMatchObject({ allowed: true })
    await task.write({ 'src/buzz.mjs': "export const buzz = (n) => (n % 5 === 0 ? 'buzz' : n)\n" })
    const [blocked] = await task.green()
    expect(blocked?.message).toContain(
      `no test is proved for "AC-2": it has no new test that passes (${PATH}:5 one was there before the task with the same text: write a new test)`,
    )
  })
})
