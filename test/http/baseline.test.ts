import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { isFullDepth } from '../depth.js'
import { ADD, CODE, HEAD, makeScene, OLD, PROJECT } from './baselining.js'

const contractOf = (more: { run?: string; tests?: string; enforcement?: string } = {}): string => `
name: based
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files, bash]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: RED}]}]
  - id: IMPL
    allowed_tools: [write_files, bash]
    gates:
      - id: green
        type: validation
        blockers: [{check: all_tests_pass, message: GREEN}, {check: no_skipped_tests, message: SKIPS}]
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: ${JSON.stringify(more.run ?? 'node --test tests/')}, format: node, timeout_seconds: 60}}
${more.tests === undefined ? '' : `tests: ${more.tests}`}
enforcement: {denial_budget: 1000${more.enforcement ?? ''}}
`
const SLOW = 'sleep 3; node --test tests/'

describe('the tests of the tree that work began with', () => {
  const { scene, begin, write, told, baselines } = makeScene()
  afterEach(() => scene.run.stop())

  it('[REQ-BASELINE-1] a claim does not wait for them, RED does, and they are in the ledger', async () => {
    await begin(contractOf({ run: SLOW }))
    // One that had waited would find them recorded.
    expect(await baselines()).toEqual([])
    expect((await told('IMPL')).blockers).toContain('old is broken failed before the task too')
    expect(await baselines()).toMatchObject([
      {
        data: {
          passed: 1,
          failed: 1,
          skipped: 0,
          flaky: 0,
          reason: null,
          run: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      },
    ])
  })

  it.runIf(isFullDepth())(
    '[REQ-BASELINE-2] they belong to the starting tree, whatever was changed while they ran',
    async () => {
      await begin(contractOf({ run: SLOW }))
      await write('src/old.mjs', 'export const old = () => 2\n')
      await write('tests/old.test.mjs', OLD.replaceAll('old is broken', 'old will break'))
      await write('tests/add.test.mjs', ADD)
      const { blockers } = await told('IMPL')
      expect(blockers).toContain('tests that ran before the task are gone: old is broken')
      expect(await baselines()).toMatchObject([{ data: { passed: 1, failed: 1 } }])
      await write('src/old.mjs', 'export const old = () => 1\n')
      await write('tests/old.test.mjs', OLD)
      expect((await told('IMPL')).blockers).toBe('')
      await write('src/add.mjs', CODE)
      expect(await told('DONE')).toMatchObject({ blockers: '', warnings: expect.stringContaining('old is broken') })
    },
  )

  it.runIf(isFullDepth())(
    '[REQ-BASELINE-3] they survive a restart; a run that was cut short is made again',
    async () => {
      await begin(contractOf({ run: SLOW }))
      scene.run = await scene.run.restart()
      expect(await baselines()).toEqual([])
      await write('tests/add.test.mjs', ADD)
      await write('src/old.mjs', 'export const old = () => 2\n')
      expect((await told('IMPL')).blockers).toBe('')
      const [first] = await baselines()
      expect(first).toMatchObject({ data: { passed: 1, failed: 1 } })
      scene.run = await scene.run.restart()
      await write('src/add.mjs', CODE)
      expect((await told('DONE')).blockers).toContain('Passed before the task: old works')
      expect(await baselines()).toEqual([first])
    },
  )

  it.runIf(isFullDepth())('[REQ-BASELINE-4] tasks that begin with the same tree share them', async () => {
    await begin(contractOf({ run: SLOW }))
    await expect.poll(baselines).toHaveLength(1)
    const call = { task_id: 't', reason: 'another one' }
    expect((await scene.run.call('POST', '/tasks/release', scene.token, call)).status).toBe(200)
    await scene.run.addTask({ id: 'u' })
    await scene.run.claim('b', await scene.run.addAgent('b'), 'u')
    await expect.poll(() => baselines('u')).toHaveLength(1)
    expect((await baselines('u'))[0]?.data.run).toBe((await baselines())[0]?.data.run)
    expect(readdirSync(join(scene.run.stateDir, 'baselines'))).toHaveLength(1)
  })

  it('[REQ-BASELINE-5] a tree whose tests cannot be run is a baseline without tests, with the reason', async () => {
    await begin(contractOf({ run: 'npm test --silent' }), { 'src/old.mjs': 'export const old = () => 1\n' })
    await expect.poll(baselines).toHaveLength(1)
    expect((await baselines())[0]).toMatchObject({ data: { passed: 0, failed: 0, reason: expect.stringMatching(/./) } })
    await write('package.json', '{"name": "x", "scripts": {"test": "node --test tests/"}}')
    await write('tests/add.test.mjs', ADD)
    expect((await told('IMPL')).blockers).toBe('')
    await write('src/add.mjs', CODE)
    expect((await told('DONE')).blockers).toBe('')
  })

  it.runIf(isFullDepth())('[REQ-BASELINE-6] `baseline: forbid` counts every failure against the task', async () => {
    await begin(contractOf({ tests: '{baseline: forbid}' }))
    await write('tests/add.test.mjs', ADD)
    expect((await told('IMPL')).blockers).toBe('')
    await write('src/add.mjs', CODE)
    expect((await told('DONE')).blockers).toContain('GREEN: 1 failed: old is broken')
    await write('src/old.mjs', 'export const old = () => 2\n')
    expect((await told('DONE')).blockers).toContain('old works')
  })

  it.runIf(isFullDepth())(
    '[REQ-BASELINE-7] with `repeat` a flaky test is named, opens no RED, and is not held against honest work',
    async () => {
      const flaky = `${HEAD}test('now and then', () => assert.equal(Math.floor(Date.now() / 900) % 2, 0))\n`
      await begin(contractOf({ tests: '{repeat: 6}', run: 'sleep 0.3; node --test tests/' }), {
        ...PROJECT,
        'tests/flaky.test.mjs': flaky,
      })
      await expect.poll(baselines).toHaveLength(1)
      expect((await baselines())[0]).toMatchObject({ data: { flaky: 1 } })
      await write('tests/more.test.mjs', flaky.replace('now and then', 'new and flaky'))
      const { blockers } = await told('IMPL')
      expect(blockers).toContain('new and flaky passes in some runs and fails in others')
      await write('tests/more.test.mjs', ADD)
      expect(await told('IMPL')).toMatchObject({ blockers: '', warnings: expect.stringContaining('now and then') })
      await write('src/add.mjs', CODE)
      expect((await told('DONE')).blockers).toBe('')
    },
  )

  it.runIf(isFullDepth())(
    '[REQ-BASELINE-8] if the start was not recorded, the older rules apply, and a message says so',
    async () => {
      await begin(contractOf({ run: 'sleep 1; node --test tests/', enforcement: ', reconcile: off' }))
      await write('notes.md', 'changed while they ran')
      const red = await told('IMPL')
      expect(red.blockers).toBe('')
      expect(red.warnings).toContain('There is no baseline: files changed before the first test run')
      writeFileSync(join(scene.run.workspace, 'src/old.mjs'), 'export const old = () => 2\n')
      expect((await told('DONE')).blockers).toContain('GREEN: 1 failed')
    },
  )
})
