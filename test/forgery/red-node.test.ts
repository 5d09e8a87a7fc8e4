import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers, type Files, openStage, type Stage, type Worker } from './red-stage.js'

const HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const OLD = `${HEAD}import { old } from '../src/old.mjs'
test('old works', () => assert.equal(old(), 1))
test('old is broken', () => assert.equal(old(), 2))
test.skip('old is skipped', () => assert.equal(old(), 3))
`
const PROJECT: Files = {
  'package.json': '{"name": "adder", "type": "module"}',
  'src/old.mjs': 'export const old = () => 1\n',
  'tests/old.test.mjs': OLD,
  'tests/words.txt': 'no test\n',
}
const ADD = `${HEAD}import { add } from '../src/add.mjs'\ntest('adds', () => assert.equal(add(2, 3), 5))\n`
const LAZY = `${HEAD}test('adds', async () => {
  const { add } = await import('../src/add.mjs')
  assert.equal(add(2, 3), 5)
})
`
const PASSES = `${HEAD}import { old } from '../src/old.mjs'\ntest('is one', () => assert.equal(old(), 1))\n`
const CODE = 'export const add = (a, b) => a + b\n'
const TERMS = { run: 'node --test tests/', format: 'node' }

describe('RED with node:test', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage.end())
  const worker = (files: Files = {}): Promise<Worker> => stage.worker({ ...PROJECT, ...files }, TERMS)

  it('[REQ-RED-1] [REQ-RED-6] honest work in a project with old failures and skips completes, and they are shown', async () => {
    const agent = await worker()
    await agent.write({ 'tests/add.test.mjs': ADD })
    expect(await agent.red([covers('tests/add.test.mjs')])).toBe('')
    expect(agent.warnings()).toContain('Failed before the task too: old is broken')
    await agent.write({ 'src/add.mjs': 'export const add = () => 0\n' })
    expect(await agent.green()).toContain('GREEN: 1 failed: adds')
    await agent.write({ 'src/add.mjs': CODE })
    expect(await agent.green()).toBe('')
    expect(agent.warnings()).toContain('Failed before the task too: old is broken')
    expect(agent.warnings()).toContain('Skipped before the task too: old is skipped')
  })

  it('[REQ-RED-2] a failure from before the task opens no RED, also in a file that was touched or under a shifted name', async () => {
    const agent = await worker()
    expect(await agent.red([covers('tests/old.test.mjs')])).toContain('old is broken failed before the task too')
    await agent.write({ 'tests/old.test.mjs': `${OLD}// touched\n` })
    expect(await agent.red([covers('tests/old.test.mjs')])).toContain('old is broken failed before the task too')
    await agent.write({ 'tests/old.test.mjs': OLD, 'tests/a.test.mjs': PASSES.replace('is one', 'old is broken') })
    const told = await agent.red([covers('tests/old.test.mjs'), covers('tests/a.test.mjs')])
    expect(told).toContain('RED: no new or changed test fails')
    expect(told).toContain('CRITERIA: no new test fails for "AC1"')
    // The honest twin: the same file, with a new test that fails.
    await agent.remove('tests/a.test.mjs')
    await agent.write({ 'tests/old.test.mjs': `${OLD}test('is two', () => assert.equal(old(), 2))\n` })
    expect(await agent.red([covers('tests/old.test.mjs')])).toBe('')
    await agent.write({ 'src/old.mjs': 'export const old = () => 2\n' })
    expect(await agent.green()).toContain('Passed before the task: old works')
  })

  it('[REQ-RED-3] a criterion is not held by a file that is not a test, by a test that passes, or by the failure of another', async () => {
    const agent = await worker()
    await agent.write({ 'tests/add.test.mjs': LAZY, 'tests/more.test.mjs': PASSES })
    const both = ['AC1', 'AC2']
    const add = covers('tests/add.test.mjs', 'AC1')
    expect(await agent.red([add, covers('tests/words.txt', 'AC2')], both)).toContain(
      '"AC2": tests/words.txt: the run reports no test of it',
    )
    expect(await agent.red([add, covers('src/old.mjs', 'AC2')], both)).toContain('the run reports no test of it')
    expect(await agent.red([add, covers('tests/more.test.mjs', 'AC2')], both)).toContain(
      '"AC2": tests/more.test.mjs: is one already passes',
    )
    await agent.remove('tests/more.test.mjs')
    await agent.write({ 'tests/add.test.mjs': `${LAZY}test('is five', () => assert.equal([5].length, 1))\n` })
    const unclear = covers('tests/add.test.mjs', ...both)
    expect(await agent.red([unclear], both)).toContain('say in `criteria` which test covers which criterion')
    const named = (second: string) => [{ ...unclear, criteria: { AC1: ['adds'], AC2: [second] } }]
    expect(await agent.red(named('is *'), both)).toContain('is five already passes')
    expect(await agent.red(named('subtracts'), both)).toContain('no failing test matches "subtracts"')
    // The honest twin.
    const second = "test('adds none', async () => assert.equal((await import('../src/add.mjs')).add(1, 0), 1))\n"
    await agent.write({ 'tests/add.test.mjs': LAZY + second })
    expect(await agent.red(named('adds n*'), both)).toBe('')
    await agent.write({ 'src/add.mjs': CODE })
    expect(await agent.green()).toBe('')
  })

  it.each([
    [
      'a refused connection',
      'could not connect',
      "import net from 'node:net'\ntest('adds', () => new Promise((_, no) => net.connect(1, '127.0.0.1').on('error', no)).then(() => assert.equal(process.pid, 0)))\n",
    ],
    [
      'a missing package',
      'is not installed',
      "import pad from 'left-pad'\ntest('adds', () => assert.equal(pad(1), '1'))\n",
    ],
    [
      'a lazy missing package',
      'is not installed',
      "test('adds', async () => assert.equal((await import('left-pad')).default, 1))\n",
    ],
    ['a syntax error', 'syntax error', "test('adds', () => assert.equal(1, ))) {\n"],
    [
      'a time-out',
      'timed out',
      "test('adds', { timeout: 50 }, async () => { await new Promise((yes) => setTimeout(yes, 5000)); assert.equal(process.pid, 0) })\n",
    ],
    ['a missing module without an assertion', 'has no assertion', "import '../src/add.mjs'\ntest('adds', () => {})\n"],
  ])('[REQ-RED-4] %s shows nothing of the project', async (_, reason, text) => {
    const agent = await worker()
    await agent.write({ 'tests/add.test.mjs': HEAD + text })
    expect(await agent.red([covers('tests/add.test.mjs')])).toContain(reason)
    await agent.write({ 'tests/add.test.mjs': LAZY })
    expect(await agent.red([covers('tests/add.test.mjs')])).toBe('')
  })

  it('[REQ-RED-5] breaking, skipping or losing an old test blocks and is named', async () => {
    const agent = await worker()
    await agent.write({ 'tests/add.test.mjs': LAZY, 'tests/old.test.mjs': OLD.replace(/test\('old works.*\n/, '') })
    expect(await agent.red([covers('tests/add.test.mjs')])).toContain(
      'tests that ran before the task are gone: old works',
    )
    await agent.write({ 'tests/old.test.mjs': OLD.replace("test('old works", "test.skip('old works") })
    expect(await agent.red([covers('tests/add.test.mjs')])).toContain(
      'tests that ran before the task are skipped now: old works',
    )
    await agent.write({ 'tests/old.test.mjs': OLD })
    expect(await agent.red([covers('tests/add.test.mjs')])).toBe('')
    await agent.write({ 'src/add.mjs': CODE, 'src/old.mjs': 'export const old = () => 2\n' })
    expect(await agent.green()).toContain('GREEN: 1 failed: old works. Passed before the task: old works')
    await agent.write({ 'src/old.mjs': PROJECT['src/old.mjs'] ?? '' })
    expect(await agent.green()).toBe('')
  })

  it('[REQ-RED-7] new tests that already pass are a warning that names them', async () => {
    const agent = await worker()
    await agent.write({ 'tests/add.test.mjs': `${LAZY}test('is there', () => assert.equal([1].length, 1))\n` })
    expect(await agent.red([covers('tests/add.test.mjs')])).toBe('')
    expect(agent.warnings()).toContain('New tests that already pass: is there')
  })
})
