import { afterEach, describe, expect, it } from 'vitest'
import { ADD, CODE, makeScene, OLD, PROJECT } from './baselining.js'

const FILES = { ...PROJECT, 'tests/old.test.mjs': `${OLD}test.skip('old is skipped', () => assert.equal(old(), 1))\n` }

const contractOf = (enforcement: string): string => `
name: unrecorded
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: RED}]}]
  - id: IMPL
    allowed_tools: [write_files]
    gates:
      - id: green
        type: validation
        blockers: [{check: all_tests_pass, message: GREEN}, {check: no_skipped_tests, message: SKIPS}]
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: node --test tests/, format: node, timeout_seconds: 60}}
enforcement: {denial_budget: 1000, ${enforcement}}
`

describe('old failing tests where the start of the work is not recorded, or there is no sandbox', () => {
  const { scene, begin, write, told, baselines } = makeScene()
  afterEach(() => scene.run.stop())

  it.each(['reconcile: off', 'confinement: off', 'confinement: off, reconcile: off'])(
    '[REQ-BASELINE-10] %s: honest work completes, old failures open no RED, and breaking an old test blocks',
    async (enforcement) => {
      await begin(contractOf(enforcement), FILES)
      await expect.poll(baselines).toMatchObject([{ data: { passed: 1, failed: 1, skipped: 1 } }])
      expect((await told('IMPL')).blockers).toContain('old is broken failed before the task too')
      await write('tests/add.test.mjs', ADD)
      expect((await told('IMPL')).blockers).toBe('')
      await write('src/add.mjs', CODE)
      await write('src/old.mjs', 'export const old = () => 3\n')
      expect((await told('DONE')).blockers).toContain('Passed before the task: old works')
      await write('src/old.mjs', PROJECT['src/old.mjs'] ?? '')
      expect(await told('DONE')).toMatchObject({ blockers: '', warnings: expect.stringContaining('old is broken') })
    },
  )
})
