import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStage, type Stage } from './stage.js'

const HEAD =
  "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { add } from '../src/add.mjs'\n"
const HONEST = `${HEAD}test('adds', () => assert.equal(add(2, 3), 5))\n`
const VACUOUS = `${HEAD}test('adds', () => {
  try {
    assert.equal(add(2, 3), 5)
  } catch {}
})
`
const CODE = 'export const add = (a, b) => a + b\n'
const NODE = { run: 'node --test tests/', format: 'node' }
const COVERS = { 'tests/add.test.mjs': ['AC-1'] }

describe('the inverted run with node:test', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage.end())

  it('[REQ-INVERT-1] an honest test is proved, and the record says so', async () => {
    const task = await stage.task({}, NODE)
    await task.write({ 'tests/add.test.mjs': HONEST })
    await task.red(COVERS)
    await task.write({ 'src/add.mjs': CODE })
    expect(await task.green()).toEqual([])
    expect(await task.ran()).toMatchObject({ grade: 'proved', inverted: { proved: 1, survived: 0 } })
  })

  it('[REQ-INVERT-2] a test that cannot fail blocks with its line, and the way back leads on', async () => {
    const task = await stage.task({}, NODE)
    await task.write({ 'tests/add.test.mjs': VACUOUS })
    await task.red(COVERS)
    await task.write({ 'src/add.mjs': CODE })
    const [blocked] = await task.green()
    expect(blocked).toMatchObject({
      check: 'tests_can_fail',
      message: expect.stringContaining('tests/add.test.mjs:4 adds still passes'),
      remedy: expect.stringContaining('Request TDD with "claims": {"tests_need_change": true}'),
    })
    await task.back()
    await task.write({ 'tests/add.test.mjs': HONEST })
    await task.red(COVERS)
    expect(await task.green()).toEqual([])
    expect(await task.ran()).toMatchObject({ grade: 'proved' })
  })
})
